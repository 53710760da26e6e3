/**
 * SSH signatures of commits, by ssh-keygen: it reads every key format and asks for passphrases itself.
 *
 * A key stands on disk only while ssh-keygen runs, in a private folder, and is removed right after.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { normaliseKey, type SecretData } from './credentials.ts';
import type { Environment } from './environment.ts';
import { cleanText } from './failure.ts';
import { Children, type RunResult, run } from './run.ts';
import { SecretText } from './secret-text.ts';
import { writePassphrase, writePrivate } from './session.ts';

export interface Signer {
  readonly privateKey: SecretText;
  readonly passphrase: SecretText | undefined;
  /** In authorized_keys form, for people to register at their host. */
  readonly publicKey: string;
}

export type SignerRead =
  | { readonly ok: true; readonly signer: Signer }
  | { readonly ok: false; readonly reason: 'SecretMalformed'; readonly message: string };

const deadlineMs = 20_000;
const prefix = 'signing-';
/** Folders of an earlier process have another name, whatever its process id was. */
const ownPrefix = `${prefix}${randomUUID()}-`;

/** Signs with one key; valid until the work it was given to has ended. */
export type Sign = (payload: string) => Promise<string>;

/** Reads `signing.key` and `passphrase` of a Secret and proves that they work. `volume` is a private folder of this process. */
export async function readSigner(
  data: SecretData,
  volume: string,
  ambient: Environment | NodeJS.ProcessEnv,
): Promise<SignerRead> {
  const key = text(data['signing.key']);
  if (key === undefined) return malformed('key signing.key is missing or no text');
  const passphrase = text(data.passphrase)?.replace(/[\r\n]+$/, '') || undefined;
  const privateKey = new SecretText(normaliseKey(key));
  const secret = passphrase === undefined ? undefined : new SecretText(passphrase);
  const made = await withKey({ privateKey, passphrase: secret }, volume, ambient, (keygen) => keygen(['-y']));
  if (made.ended !== 'exit' || made.code !== 0) {
    const hint =
      passphrase === undefined
        ? 'no private key that works without a passphrase'
        : 'no private key that fits the passphrase';
    return malformed(`key signing.key is ${hint}`);
  }
  const publicKey = made.stdout.toString().trim();
  const stated = text(data['signing.pub']);
  if (stated !== undefined && material(stated) !== material(publicKey)) {
    return malformed('key signing.pub is not the public key of signing.key');
  }
  return { ok: true, signer: { privateKey, passphrase: secret, publicKey } };
}

/** A new ed25519 key, as the data of a Secret (base64). */
export async function generateSigningKey(
  volume: string,
  comment: string,
  ambient: Environment | NodeJS.ProcessEnv,
): Promise<{ readonly data: SecretData; readonly publicKey: string }> {
  const folder = await keyFolder(volume);
  try {
    const file = join(folder, 'key');
    const name = comment.replace(/[^\x20-\x7e]/g, '').slice(0, 200);
    const result = await keygen(
      ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file],
      folder,
      {},
      ambient,
    );
    if (result.code !== 0) throw new Error(`ssh-keygen made no key: ${cleanText(result.stderr)}`);
    const [privateKey, publicKey] = await Promise.all([readFile(file), readFile(`${file}.pub`)]);
    return {
      data: { 'signing.key': privateKey.toString('base64'), 'signing.pub': publicKey.toString('base64') },
      publicKey: publicKey.toString().trim(),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives `work` a function that signs. */
export async function withSigner<T>(
  signer: Signer,
  folder: string,
  ambient: Environment | NodeJS.ProcessEnv,
  work: (sign: Sign) => Promise<T>,
): Promise<T> {
  return await withKey(signer, folder, ambient, (keygen) =>
    work(async (payload) => {
      const result = await keygen(['-Y', 'sign', '-n', 'git', '-q'], payload);
      const signature = result.stdout.toString();
      if (result.code !== 0 || !signature.startsWith('-----BEGIN SSH SIGNATURE-----')) {
        throw new Error(`ssh-keygen did not sign: ${cleanText(result.stderr)}`);
      }
      return signature.trimEnd();
    }),
  );
}

type Keygen = (args: readonly string[], input?: string) => Promise<RunResult>;

async function withKey<T>(
  { privateKey, passphrase }: Pick<Signer, 'privateKey' | 'passphrase'>,
  parent: string,
  ambient: Environment | NodeJS.ProcessEnv,
  work: (keygen: Keygen) => Promise<T>,
): Promise<T> {
  const folder = await keyFolder(parent);
  try {
    const file = join(folder, 'key');
    await writePrivate(file, privateKey.reveal());
    // Without a passphrase nobody is asked: a helper that says no.
    const asking =
      passphrase === undefined
        ? { SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' }
        : await writePassphrase(folder, passphrase.reveal());
    return await work((args, input) => keygen([...args, '-f', file], folder, asking, ambient, input));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a private folder, and removes those that a killed process left. */
async function keyFolder(parent: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const stale = name.startsWith(prefix) && !name.startsWith(ownPrefix);
    if (stale) await rm(join(parent, name), { recursive: true, force: true });
  }
  return await mkdtemp(join(parent, ownPrefix));
}

async function keygen(
  args: readonly string[],
  cwd: string,
  asking: Environment,
  ambient: Environment | NodeJS.ProcessEnv,
  input = '',
): Promise<RunResult> {
  const environment = { PATH: ambient.PATH ?? '', HOME: cwd, LC_ALL: 'C', ...asking };
  return await run({ program: 'ssh-keygen', args, cwd, environment, input, deadlineMs }, new Children());
}

function text(base64: string | undefined): string | undefined {
  if (base64 === undefined) return undefined;
  const decoded = Buffer.from(base64, 'base64').toString('utf8');
  return decoded.trim() === '' || decoded.includes('\ufffd') ? undefined : decoded;
}

/** Type and key, without the comment. */
function material(publicKey: string): string {
  return publicKey.trim().split(/\s+/).slice(0, 2).join(' ');
}

function malformed(what: string): SignerRead {
  return { ok: false, reason: 'SecretMalformed', message: `the signing Secret cannot be used: ${what}` };
}
