/** A long-running program of the tests: its log goes to a file, and it never outlives this process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { leash } from './leash.ts';
import { until } from './wait.ts';

export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Settles when the program has ended: with its exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  running(): boolean;
  /** Sends a signal and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Throws with the end of the log when the program ended. */
  assertRunning(): void;
}

export interface ProgramOptions {
  readonly logFile: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

const logLinesShown = 20;
const startWait = { timeoutMs: 120_000, intervalMs: 50 };
const running = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of running) {
    signalGroup(child, 'SIGKILL');
  }
});

export async function startProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions,
): Promise<Program> {
  const name = basename(command);
  const log = openSync(options.logFile, 'a');
  // Its own process group: Ctrl-C in the terminal reaches us only, and whatever it starts is killed with it.
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const pid = await spawned(child, command);
  running.add(child);
  child.unref();
  const release = leash('kill -KILL "-$1"', String(pid));
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(child);
      release();
      resolve(signal ?? code ?? 0);
    });
  });
  return {
    name,
    pid,
    logFile: options.logFile,
    ended,
    running: () => running.has(child),
    async kill(signal = 'SIGTERM') {
      if (!running.has(child)) {
        return;
      }
      // While someone waits for the end, the program may keep this process alive.
      child.ref();
      signalGroup(child, signal);
      await ended;
    },
    assertRunning() {
      if (!running.has(child)) {
        const how = child.signalCode ?? `exit code ${child.exitCode}`;
        throw new Error(`${name} ended with ${how}; the end of its log:\n${lastLines(options.logFile)}`);
      }
    },
  };
}

/** Waits until a program does its work; one that ends instead fails at once, with the end of its log. */
export async function ready(program: Program, probe: () => boolean | Promise<boolean>): Promise<void> {
  let ended = false;
  void program.ended.then(() => {
    ended = true;
  });
  try {
    await until(`${program.name} is ready`, async () => ended || (await probe()), startWait);
  } catch (cause) {
    const end = lastLines(program.logFile);
    throw new Error(`${program.name} does not become ready; the end of its log:\n${end}`, { cause });
  }
  program.assertRunning();
}

function lastLines(logFile: string): string {
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-logLinesShown).join('\n');
}

function spawned(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`cannot start ${command}: ${cause.message}`, { cause })));
    child.once('spawn', () => resolve(Number(child.pid)));
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) {
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
