/** Counts the git processes a program starts: a `git` of our own stands first on its PATH, notes the call and becomes git. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { runOk } from '../cluster/run.ts';

export interface GitCounter {
  /** For the environment of the program to watch. */
  readonly path: string;
  /** The subcommands since the last call, in the order they were started. */
  taken(): string[];
  remove(): Promise<void>;
}

export async function gitCounter(): Promise<GitCounter> {
  const folder: Folder = temporaryFolder('git-counter');
  const git = (await runOk('sh', ['-c', 'command -v git'])).trim();
  const log = join(folder.path, 'calls');
  writeFileSync(log, '');
  const script = `#!/bin/sh\nprintf '%s %s\\n' "$(date +%s%3N)" "$1" >>'${log}'\nexec '${git}' "$@"\n`;
  writeFileSync(join(folder.path, 'git'), script);
  chmodSync(join(folder.path, 'git'), 0o755);
  let seen = 0;
  return {
    path: `${folder.path}${delimiter}${process.env.PATH ?? ''}`,
    taken() {
      const calls = readFileSync(log, 'utf8').trimEnd().split('\n');
      const fresh = calls.slice(seen).filter((call) => call !== '');
      seen = calls.length;
      return fresh.map((call) => call.split(' ')[1] ?? '');
    },
    remove: () => folder.remove(),
  };
}
