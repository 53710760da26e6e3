/**
 * Runs sops once: fixed environment, a home of its own, bounded time and output. What it says is classified and never passed on,
 * because a parser's complaint may quote what it read.
 */
import { spawn } from 'node:child_process';
import type { Environment } from './environment.ts';

export interface SopsRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Environment;
  readonly input: string | Uint8Array;
  /** An open file that the program gets as its descriptor 3. */
  readonly keyFile: number | undefined;
  readonly deadlineMs: number;
}

export type SopsResult =
  | { readonly kind: 'done'; readonly stdout: Buffer }
  | { readonly kind: 'failed'; readonly why: SopsFailure };

export type SopsFailure =
  | 'not-started'
  | 'deadline'
  | 'too-much-output'
  | 'no-rule'
  | 'no-key'
  | 'damaged'
  | 'bad-recipient'
  | 'other';

/** A Secret of the largest size, base64 twice over, with room. */
const maxOutputBytes = 16 * 1024 * 1024;
const keptErrorBytes = 64 * 1024;

export function runSops({ program, args, cwd, environment, input, ...rest }: SopsRun): Promise<SopsResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe', ...(rest.keyFile === undefined ? [] : [rest.keyFile])],
      detached: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let [bytes, errorBytes] = [0, 0];
    let ended: SopsFailure | undefined;

    function end(why: SopsFailure): void {
      ended ??= why;
      kill(child.pid);
    }
    const deadline = setTimeout(() => end('deadline'), rest.deadlineMs);
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) end('too-much-output');
      else stdout.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      errorBytes += chunk.length;
      if (errorBytes <= keptErrorBytes) stderr.push(chunk);
    });
    child.on('error', () => {
      clearTimeout(deadline);
      resolve({ kind: 'failed', why: 'not-started' });
    });
    child.on('close', (code) => {
      clearTimeout(deadline);
      if (ended === undefined && code === 0) resolve({ kind: 'done', stdout: Buffer.concat(stdout) });
      else
        resolve({
          kind: 'failed',
          why: ended ?? failureOf(code, Buffer.concat(stderr).toString('utf8')),
        });
    });
    // A program that ends without reading its input is no error; its exit code tells.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Exit codes and words of sops 3.13, `cmd/sops/codes` and `config`. */
function failureOf(code: number | null, stderr: string): SopsFailure {
  if (/no matching creation rules found/.test(stderr)) return 'no-rule';
  if (code === 128) return 'no-key';
  if (code === 24 || code === 25 || code === 51 || code === 52) return 'damaged';
  if (/failed to parse (input|recipients?)|unknown recipient|malformed recipient/i.test(stderr))
    return 'bad-recipient';
  return 'other';
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
