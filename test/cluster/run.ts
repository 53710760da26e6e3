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
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: 'pipe',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk) => stdout.push(chunk));
    child.stderr.on('data', (chunk) => stderr.push(chunk));
    child.on('error', (cause) => reject(new Error(`cannot run ${command}: ${cause.message}`, { cause })));
    child.on('close', (code, signal) => {
      const errors = Buffer.concat(stderr).toString();
      if (code === null) {
        const said = `${command} ${args.join(' ')} was ended by ${signal} (it may run for ${timeoutMs} ms)`;
        reject(new Error(`${said}:\n${errors}`));
        return;
      }
      resolve({ stdout: Buffer.concat(stdout).toString(), stderr: errors, code });
    });
    // A command that ends without reading its input is no error.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin ?? '');
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
