/**
 * Runs one program: bounded output, a deadline, and a kill that reaches the program's own children too.
 *
 * How it ended is a value; only a program that cannot be started throws.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Environment } from './environment.ts';

export interface RunRequest {
  readonly program?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Environment;
  /** Counted from the end of the input. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Standard output beyond this ends the program. */
  readonly maxOutputBytes?: number;
}

export interface RunResult {
  readonly ended: 'exit' | 'deadline' | 'aborted' | 'too-much-output';
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: Buffer;
  /** At most 64 KiB: the first and the last half. */
  readonly stderr: string;
}

const defaultMaxOutputBytes = 256 * 1024 * 1024;
const keptErrorBytes = 32 * 1024;
// git removes its lock files and half-written packs on SIGTERM; what ignores that is killed.
const graceMs = 1_000;

/** The programs of one repository that are running, so that they can be ended together. */
export class Children {
  readonly #living = new Set<ChildProcess>();
  readonly #tasks = new Set<ChildProcess>();

  /** A task comes to its end by itself; a resident process does not. */
  add(child: ChildProcess, kind: 'task' | 'resident'): void {
    const sets = kind === 'task' ? [this.#living, this.#tasks] : [this.#living];
    for (const set of sets) set.add(child);
    const remove = () => {
      for (const set of sets) set.delete(child);
    };
    child.once('close', remove);
    child.once('error', remove);
  }

  get tasks(): number {
    return this.#tasks.size;
  }

  killAll(): void {
    for (const child of this.#living) killGroup(child, 'SIGKILL');
  }
}

/** A program that is being fed. */
export interface Running {
  /** Hands over more input; a program that ended does not read it, and its exit code tells. */
  write(chunk: Uint8Array): void;
  /** Ends the input. The deadline counts from here. Rejects only when the program could not be started. */
  end(chunk: string | Uint8Array): Promise<RunResult>;
}

export function run(request: RunRequest & { readonly input?: string | Uint8Array }, children: Children) {
  return start(request, children).end(request.input ?? '');
}

export function start(request: RunRequest, children: Children): Running {
  const { program = 'git', maxOutputBytes = defaultMaxOutputBytes, signal } = request;
  const child = spawn(program, request.args, {
    cwd: request.cwd,
    env: request.environment,
    stdio: 'pipe',
    // A group of its own: git's transport programs are killed with it.
    detached: true,
  });
  children.add(child, 'task');
  const stdout: Buffer[] = [];
  const stderr = new BoundedText();
  let bytes = 0;
  let ended: RunResult['ended'] = 'exit';
  let deadline: NodeJS.Timeout | undefined;
  let killTimer: NodeJS.Timeout | undefined;

  function end(why: RunResult['ended']): void {
    if (ended !== 'exit') return;
    ended = why;
    killGroup(child, 'SIGTERM');
    killTimer = setTimeout(() => killGroup(child, 'SIGKILL'), graceMs);
  }
  const abort = () => end('aborted');
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();

  function settle(): void {
    clearTimeout(deadline);
    clearTimeout(killTimer);
    signal?.removeEventListener('abort', abort);
  }
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) end('too-much-output');
    else stdout.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
  // A program that ends without reading its input is no error; its exit code tells.
  child.stdin.on('error', () => undefined);
  let isOver = false;
  const result = new Promise<RunResult>((resolve, reject) => {
    child.on('error', (cause) => {
      isOver = true;
      settle();
      reject(new Error(`cannot run ${program}: ${cause.message}`, { cause }));
    });
    child.on('close', (code) => {
      isOver = true;
      settle();
      resolve({ ended, code, stdout: Buffer.concat(stdout), stderr: stderr.toString() });
    });
  });
  // Whoever ends the input hears of it.
  result.catch(() => undefined);
  return {
    write(chunk) {
      child.stdin.write(chunk);
    },
    end(chunk) {
      if (!isOver) deadline = setTimeout(() => end('deadline'), request.deadlineMs);
      child.stdin.end(chunk);
      return result;
    },
  };
}

/** The program may have ended while its children hold its output open, so its own exit code says nothing here. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Gone already.
  }
}

/** The beginning and the end of a text, whatever its length. */
class BoundedText {
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #dropped = false;

  add(chunk: Buffer): void {
    const room = keptErrorBytes - this.#head.length;
    this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const tail = Buffer.concat([this.#tail, chunk.subarray(Math.max(0, room))]);
    this.#dropped ||= tail.length > keptErrorBytes;
    this.#tail = tail.subarray(Math.max(0, tail.length - keptErrorBytes));
  }

  toString(): string {
    return `${this.#head}${this.#dropped ? '\n[…]\n' : ''}${this.#tail}`;
  }
}
