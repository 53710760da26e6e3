/** The built program, as a user starts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../cluster/port.ts';
import { runOk } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';

const program = join(import.meta.dirname, '../../dist/gitops-reverser.mjs');

export interface DemoSidecar {
  log(): string;
  /** Runs one of the commands for people, such as `status`. */
  command(args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

export async function startSidecar(kubeconfig: string, dataDir: string, door: string): Promise<DemoSidecar> {
  mkdirSync(dataDir, { recursive: true });
  const logFile = join(dataDir, 'sidecar.log');
  const health = `127.0.0.1:${await freePort()}`;
  const flags = [
    ...['--kubeconfig', kubeconfig, '--data-dir', dataDir],
    ...['--health-bind-address', health, '--metrics-bind-address', '0', '--artifact-bind-address', door],
    // The demo's git server is plain http on loopback.
    ...['--insecure-allow-git-http', '--no-leader-elect'],
  ];
  const child = spawn(process.execPath, [program, 'run', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.pipe(createWriteStream(logFile));
  const ended = once(child, 'exit');
  const log = () => readFileSync(logFile, 'utf8');
  await until('the sidecar is ready', async () => {
    if (child.exitCode !== null) throw new Error(`the sidecar ended: ${log()}`);
    return (await fetch(`http://${health}/readyz`).catch(() => undefined))?.status === 200;
  });
  return {
    log,
    command: (args) => runOk(process.execPath, [program, ...args, '--kubeconfig', kubeconfig]),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
