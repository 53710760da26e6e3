/** Opens the repository of argv[3] on the volume argv[2] and fetches from it, for tests that kill a process in the middle. */

import { parseRepositoryUrl } from '../../src/core/repository-url.ts';
import { openRepository } from '../../src/git/repository.ts';
import { SecretText } from '../../src/git/secret-text.ts';

const [, , volume = '', address = ''] = process.argv;
const parsed = parseRepositoryUrl(address, { allowHttp: true });
if (!parsed.ok) throw new Error(parsed.message);
const { url } = parsed;
const opened = await openRepository({ volume, url, ambient: process.env, allowHttp: true });
if (opened.kind !== 'ok') throw new Error(opened.message);
const credentials = { kind: 'basic', username: 'bob', password: new SecretText('pw') } as const;
await opened.repository.fetch('main', { url, credentials });
