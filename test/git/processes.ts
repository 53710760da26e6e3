/** What runs on this machine, as /proc shows it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly cwd: string;
  /** Arguments and environment as one text each; parts end with NUL. */
  readonly args: string;
  readonly environment: string;
}

export function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${name}/${file}`, 'latin1');
        const cwd = readlinkSync(`/proc/${name}/cwd`);
        return [{ pid: Number(name), cwd, args: read('cmdline'), environment: read('environ') }];
      } catch {
        // Gone, or somebody else's.
        return [];
      }
    });
}

/** Command lines of processes that work below a folder. */
export function processesIn(folder: string): string[] {
  return processes()
    .filter(({ cwd }) => cwd.startsWith(folder))
    .map(({ args }) => args);
}
