/**
 * One login as git needs it: private files, and an environment that points to them.
 *
 * A password or token stands only in files of mode 0600 in a folder of mode 0700 on the private volume; never in
 * arguments, URLs, the environment or the repository's configuration. The files go with `close`, and a folder left by a
 * killed process is wiped when the repository is opened again.
 */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Access } from './credentials.ts';
import type { Environment } from './environment.ts';

const connectTimeoutSeconds = 15;

export class Session {
  readonly #folder: string;
  /** To be laid over the common environment. */
  readonly environment: Environment;

  private constructor(folder: string, environment: Environment) {
    this.#folder = folder;
    this.environment = environment;
  }

  /** The folder must not exist yet. */
  static async open(folder: string, access: Access): Promise<Session> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    try {
      return new Session(folder, await writeLogin(folder, access));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function writeLogin(folder: string, access: Access): Promise<Environment> {
  const { credentials, url } = access;
  if (url.scheme === 'ssh') return await writeSsh(folder, access);
  if (credentials.kind === 'bearer')
    return await writeHeader(folder, url.remote, `Bearer ${credentials.token.reveal()}`);
  if (credentials.kind !== 'basic') return {};
  const { username, password } = credentials;
  if (username === '') {
    // git sends no password without a user name, so this login is a header too.
    const login = Buffer.from(`:${password.reveal()}`).toString('base64');
    return await writeHeader(folder, url.remote, `Basic ${login}`);
  }
  return await writeAskpass(folder, url, username, password.reveal());
}

/**
 * git asks this helper, which answers only for the host we meant: after a redirect to another one git asks in that
 * one's name.
 */
async function writeAskpass(
  folder: string,
  url: Access['url'],
  username: string,
  password: string,
): Promise<Environment> {
  const host = `${url.host}${url.port === undefined ? '' : `:${url.port}`}`;
  const asksName = shellQuote(`Username for '${url.scheme}://${host}': `);
  const asksPassword = `${shellQuote(`Password for '${url.scheme}://`)}*${shellQuote(`@${host}': `)}`;
  await writePrivate(join(folder, 'username'), username);
  await writePrivate(join(folder, 'password'), password);
  return {
    GIT_ASKPASS: await writeHelper(folder, [
      [asksName, 'username'],
      [asksPassword, 'password'],
    ]),
  };
}

/**
 * The header stands in a configuration file for exactly this URL. git would repeat it after a redirect to another host,
 * so redirects are off.
 */
async function writeHeader(folder: string, remote: string, authorization: string): Promise<Environment> {
  const file = join(folder, 'gitconfig');
  const section = `[http ${configQuote(remote)}]`;
  const header = configQuote(`Authorization: ${authorization}`);
  await writePrivate(file, `${section}\n\textraHeader = ${header}\n\tfollowRedirects = false\n`);
  return { GIT_CONFIG_GLOBAL: file };
}

async function writeSsh(folder: string, { credentials, knownHosts }: Access): Promise<Environment> {
  const knownHostsFile = join(folder, 'known_hosts');
  await writePrivate(knownHostsFile, typeof knownHosts === 'object' ? knownHosts.text : '');
  const keyFile = join(folder, 'key');
  const passphrase = credentials.kind === 'ssh' ? credentials.passphrase : undefined;
  if (credentials.kind === 'ssh') await writePrivate(keyFile, credentials.privateKey.reveal());
  const settings: Record<string, string> = {
    // Batch mode would also forbid to ask our helper for the passphrase.
    BatchMode: passphrase === undefined ? 'yes' : 'no',
    StrictHostKeyChecking: knownHosts === 'any' ? 'no' : 'yes',
    UserKnownHostsFile: knownHosts === 'any' ? '/dev/null' : sshQuote(knownHostsFile),
    GlobalKnownHostsFile: '/dev/null',
    UpdateHostKeys: 'no',
    IdentityFile: sshQuote(keyFile),
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    PreferredAuthentications: 'publickey',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    NumberOfPasswordPrompts: '1',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    PermitLocalCommand: 'no',
    ControlPath: 'none',
    ConnectTimeout: `${connectTimeoutSeconds}`,
    ServerAliveInterval: '10',
    ServerAliveCountMax: '3',
    LogLevel: 'ERROR',
  };
  const configFile = join(folder, 'ssh_config');
  const lines = Object.entries(settings).map(([name, value]) => `  ${name} ${value}\n`);
  await writePrivate(configFile, `Host *\n${lines.join('')}`);
  return {
    GIT_SSH_COMMAND: `ssh -F ${shellQuote(configFile)}`,
    GIT_SSH_VARIANT: 'ssh',
    ...(passphrase === undefined ? {} : await writePassphrase(folder, passphrase.reveal())),
  };
}

/** ssh and ssh-keygen ask this helper for the passphrase of a key, and for nothing else. */
export async function writePassphrase(folder: string, passphrase: string): Promise<Environment> {
  await writePrivate(join(folder, 'passphrase'), passphrase);
  const helper = await writeHelper(folder, [[`${shellQuote('Enter passphrase')}*`, 'passphrase']]);
  return { SSH_ASKPASS: helper, SSH_ASKPASS_REQUIRE: 'force' };
}

async function writeHelper(
  folder: string,
  answers: readonly (readonly [pattern: string, file: string])[],
): Promise<string> {
  const helper = join(folder, 'askpass');
  const cases = answers.map(
    ([pattern, file]) => `${pattern}) exec cat ${shellQuote(join(folder, file))} ;;\n`,
  );
  await writeFile(helper, `#!/bin/sh\ncase "$1" in\n${cases.join('')}esac\nexit 1\n`, { mode: 0o700 });
  return helper;
}

export async function writePrivate(file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(file, content, { mode: 0o600 });
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function configQuote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function sshQuote(file: string): string {
  return `"${file.replaceAll('%', '%%')}"`;
}
