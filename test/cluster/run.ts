/** Runs a command to its end. The exit code is a value: the caller knows which codes are fine. */
import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string | Uint8Array;
  readonly timeoutMs?: number;
}

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

const defaultTimeoutMs = 60_000;

export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const { cwd, env = process.env, stdin = '', timeoutMs = defaultTimeoutMs } = options;
    // Its own process group, so that the end of its time also ends what it started, which may hold its output open.
    const child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child.pid);
    }, timeoutMs);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk) => stdout.push(chunk));
    child.stderr.on('data', (chunk) => stderr.push(chunk));
    child.on('error', (cause) => {
      clearTimeout(timer);
      reject(new Error(`cannot run ${command}: ${cause.message}`, { cause }));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const errors = Buffer.concat(stderr).toString();
      if (code === null) {
        const why = timedOut
          ? `was ended because it took more than ${timeoutMs} ms`
          : `was ended by ${signal}`;
        reject(new Error(`${command} ${args.join(' ')} ${why}:\n${errors}`));
        return;
      }
      resolve({ stdout: Buffer.concat(stdout).toString(), stderr: errors, code });
    });
    // A command that ends without reading its input is no error.
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
  });
}

/** Runs a command that has to succeed, and returns its output. */
export async function runOk(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { stdout, stderr, code } = await run(command, args, options);
  if (code !== 0) {
    throw new Error(`${command} ${args.join(' ')} ended with exit code ${code}:\n${stderr}${stdout}`);
  }
  return stdout;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
