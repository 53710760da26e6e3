/** The logins of one repository in use now. Files of a changed or old login go as soon as nobody uses them. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Access } from './credentials.ts';
import type { Environment } from './environment.ts';
import { Session } from './session.ts';

interface Login {
  readonly session: Promise<Session>;
  users: number;
}

/** Several GitProviders may name one remote; a rotated Secret pushes out the old one. */
const maxIdle = 2;

export class Logins {
  readonly #folder: string;
  /** By digest of the login, least recently used first. */
  readonly #logins = new Map<string, Login>();
  #next = 1;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async use<T>(access: Access, work: (environment: Environment) => Promise<T>): Promise<T> {
    const key = digest(access);
    const login = this.#logins.get(key) ?? {
      session: Session.open(join(this.#folder, `login-${this.#next++}`), access),
      users: 0,
    };
    this.#logins.delete(key);
    this.#logins.set(key, login);
    login.users++;
    try {
      let session: Session;
      try {
        session = await login.session;
      } catch (error) {
        this.#logins.delete(key);
        throw error;
      }
      return await work(session.environment);
    } finally {
      login.users--;
      await this.#tidy();
    }
  }

  async close(): Promise<void> {
    const logins = [...this.#logins.values()];
    this.#logins.clear();
    await Promise.allSettled(logins.map(async ({ session }) => (await session).close()));
  }

  async #tidy(): Promise<void> {
    const idle = [...this.#logins].filter(([, login]) => login.users === 0);
    for (const [key, login] of idle.slice(0, Math.max(0, idle.length - maxIdle))) {
      this.#logins.delete(key);
      await (await login.session).close();
    }
  }
}

function digest({ url, credentials, knownHosts }: Access): string {
  const hosts = typeof knownHosts === 'object' ? knownHosts.text : knownHosts;
  const parts: (string | undefined)[] = [url.remote, credentials.kind, hosts];
  if (credentials.kind === 'basic') parts.push(credentials.username, credentials.password.reveal());
  if (credentials.kind === 'bearer') parts.push(credentials.token.reveal());
  if (credentials.kind === 'ssh')
    parts.push(credentials.privateKey.reveal(), credentials.passphrase?.reveal());
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
