/**
 * Runs the command that renders. It has our own standard streams, so that not a byte passes through us and none can be lost;
 * signals go on to it, and its end is ours.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The folder it runs in. */
  readonly cwd: string;
  readonly say: (line: string) => void;
}

const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** As shells have it. */
const notFound = 127;
const notStarted = 126;

/** Its exit code; 128 and the signal's number when a signal ended it, 127 or 126 when it cannot be started. */
export function runChild({ command, args, cwd, say }: ChildOptions): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: 'inherit', env: { ...process.env, PWD: cwd } });
    const stops = forwarded.map((signal) => {
      const forward = () => child.kill(signal);
      process.on(signal, forward);
      return () => process.off(signal, forward);
    });
    const end = (code: number) => {
      for (const stop of stops) stop();
      resolve(code);
    };
    child.on('error', (error) => {
      // A signal that could not be delivered is no end.
      if (child.pid !== undefined) return;
      const missing = 'code' in error && error.code === 'ENOENT';
      say(`${command} cannot be started: ${missing ? 'no such program' : error.message}`);
      end(missing ? notFound : notStarted);
    });
    child.on('exit', (code, signal) => end(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
