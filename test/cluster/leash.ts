/**
 * Ties something to the life of this process, however it ends: a small shell waits for our end of a pipe to close, which
 * the kernel does even after kill -9, and then cleans up. It works for Ctrl-C and SIGTERM too, so no signal is handled here.
 */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Runs `script` (with `argument` as $1) when this process is gone. The function returned calls that off. */
export function leash(script: string, argument: string): () => void {
  const shell = spawn('/bin/sh', ['-c', `read -r answer || { ${script}; }`, 'leash', argument], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  // A pipe to a child is a socket in Node; it must not keep this process alive.
  (shell.stdin as Socket).unref();
  return () => {
    shell.stdin.end('done\n');
  };
}
