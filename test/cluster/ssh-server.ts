/** An ssh git server for tests: Debian's sshd on a loopback port, as the user who runs the tests. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from './folder.ts';
import { freePort } from './port.ts';
import { ready, startProgram } from './program.ts';
import { createBareRepository, type RepositoryOptions } from './repository.ts';
import { runOk } from './run.ts';

export interface SshServer {
  readonly port: number;
  readonly dir: string;
  /** The private key that gets in (ed25519). */
  readonly clientKeyFile: string;
  /** The server's line for a known_hosts file. */
  readonly knownHosts: string;
  readonly pids: readonly number[];
  url(repository: string): string;
  bareDir(repository: string): string;
  createRepository(name: string, options?: RepositoryOptions): Promise<string>;
  stop(): Promise<void>;
}

/** Why no ssh server can run here, as a sentence for a skipped test; undefined when one can. */
export function sshServerMissing(): string | undefined {
  if (sshd() === undefined) {
    return 'no sshd on this machine: run test/cluster/install-debian.sh, or install openssh-server';
  }
  return undefined;
}

export async function startSshServer(): Promise<SshServer> {
  const program = sshd();
  if (program === undefined) {
    throw new Error(sshServerMissing());
  }
  const folder = temporaryFolder('ssh-server');
  const dir = join(folder.path, 'repositories');
  const hostKey = join(folder.path, 'host_key');
  const clientKeyFile = join(folder.path, 'client_key');
  const authorizedKeys = join(folder.path, 'authorized_keys');
  const configFile = join(folder.path, 'sshd_config');
  const port = await freePort();
  mkdirSync(dir);
  await makeKey(hostKey);
  await makeKey(clientKeyFile);
  await copyFile(`${clientKeyFile}.pub`, authorizedKeys);
  await writeFile(configFile, config(port, hostKey, authorizedKeys));
  makePrivilegeFolder();

  const logFile = join(folder.path, 'sshd.log');
  const server = await startProgram(program, ['-D', '-e', '-f', configFile], { logFile });
  try {
    await ready(server, () => accepts(port));
  } catch (error) {
    await server.kill('SIGKILL');
    await folder.remove();
    throw error;
  }
  const [type, key] = (await readFile(`${hostKey}.pub`, 'utf8')).split(' ');
  const bareDir = (repository: string) => join(dir, `${repository}.git`);
  return {
    port,
    dir,
    clientKeyFile,
    knownHosts: `[127.0.0.1]:${port} ${type} ${key}`,
    get pids() {
      return server.running() ? [server.pid] : [];
    },
    url: (repository) => `ssh://${userInfo().username}@127.0.0.1:${port}${bareDir(repository)}`,
    bareDir,
    async createRepository(name, options = {}) {
      await createBareRepository(bareDir(name), options);
      return bareDir(name);
    },
    async stop() {
      await server.kill('SIGKILL');
      await folder.remove();
    },
  };
}

function config(port: number, hostKey: string, authorizedKeys: string): string {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${authorizedKeys}`,
    'PidFile none',
    'UsePAM no',
    // The keys are in the temporary folder, which others may write to.
    'StrictModes no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'LogLevel VERBOSE',
    '',
  ].join('\n');
}

async function makeKey(file: string): Promise<void> {
  await runOk('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', file]);
}

// Debian's sshd, started by root, wants this folder; its service would make it.
function makePrivilegeFolder(): void {
  if (process.getuid?.() === 0) {
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  }
}

// sshd has to be started by its absolute path, and its folder is often not in PATH.
function sshd(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'sshd')).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
