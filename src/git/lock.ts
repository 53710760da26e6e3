/**
 * One living process per repository folder: a file that says who works in it.
 *
 * The private volume belongs to one pod, so an owner on another host name or from before the last boot cannot be alive.
 * Whether an owner lives is judged by its process id together with its start time, since ids are given again.
 */
import { link, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type LockResult =
  | { readonly kind: 'locked' }
  /** The process that works in the folder. */
  | { readonly kind: 'held'; readonly pid: number };

interface Owner {
  readonly pid: number;
  readonly started: string;
  readonly host: string;
  readonly boot: string;
}

const orphanWaitMs = 2_000;
const orphanPollMs = 20;

/** Takes the lock file; one left by a dead process is replaced, and that process's git children are ended. */
export async function lockFolder(folder: string): Promise<LockResult> {
  const file = lockFile(folder);
  const mine = await self();
  const draft = `${file}.${mine.pid}`;
  await writeFile(draft, `${JSON.stringify(mine)}\n`, { mode: 0o600 });
  try {
    for (;;) {
      try {
        // A link is made whole or not at all, and fails when the name is taken.
        await link(draft, file);
        break;
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      const owner = await readOwner(file);
      if (owner !== undefined && (await isAlive(owner, mine))) return { kind: 'held', pid: owner.pid };
      await rm(file, { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
  await endOrphans(folder);
  return { kind: 'locked' };
}

export function lockFile(folder: string): string {
  return join(folder, 'owner');
}

async function self(): Promise<Owner> {
  return {
    pid: process.pid,
    started: (await startTime(process.pid)) ?? '',
    host: hostname(),
    boot: (await readText('/proc/sys/kernel/random/boot_id'))?.trim() ?? '',
  };
}

async function isAlive(owner: Owner, mine: Owner): Promise<boolean> {
  if (owner.host !== mine.host || owner.boot !== mine.boot) return false;
  if (mine.started !== '') return (await startTime(owner.pid)) === owner.started;
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    const value: unknown = JSON.parse((await readText(file)) ?? '');
    return isOwner(value) ? value : undefined;
  } catch {
    // Half-written at a power loss: nobody alive wrote it.
    return undefined;
  }
}

function isOwner(value: unknown): value is Owner {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    Number.isInteger(value.pid) &&
    'started' in value &&
    'host' in value &&
    'boot' in value
  );
}

/** Clock ticks since boot, field 22; the name in field 2 may hold blanks. Undefined: no such process, or no /proc. */
async function startTime(pid: number): Promise<string | undefined> {
  const stat = await readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/**
 * A process killed at once leaves its git children running. They work in the repository's folder, which is ours alone:
 * end them before their locks are taken away.
 */
async function endOrphans(folder: string): Promise<void> {
  const deadline = performance.now() + orphanWaitMs;
  for (;;) {
    const orphans = await workingIn(folder);
    if (orphans.length === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`processes ${orphans.join(', ')} of an earlier run still work in ${folder}`);
    }
    for (const pid of orphans) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
    await sleep(orphanPollMs);
  }
}

async function workingIn(folder: string): Promise<number[]> {
  let names: string[];
  try {
    names = await readdir('/proc');
  } catch {
    return [];
  }
  const found: number[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const cwd = await readlink(`/proc/${name}/cwd`);
      if (cwd === folder || cwd.startsWith(`${folder}/`)) found.push(Number(name));
    } catch {
      // Gone, or somebody else's.
    }
  }
  return found;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
