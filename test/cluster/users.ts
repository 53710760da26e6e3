/** The people of a test cluster: a token and a kubeconfig each. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Users {
  /** The API server's --token-auth-file. */
  readonly tokenFile: string;
  token(user: string): string;
  /** The path of a kubeconfig file with the user's token in it. */
  kubeconfigFor(user: string): string;
}

export interface UsersOptions {
  readonly dir: string;
  readonly url: string;
  readonly caFile: string;
  /** Further users, with their groups. */
  readonly users?: Readonly<Record<string, readonly string[]>>;
}

/** `admin` may do everything; alice, bob and carol may do nothing until a test gives them a role. */
const everyCluster = { admin: ['system:masters'], alice: [], bob: [], carol: [] };

export function makeUsers({ dir, url, caFile, users = {} }: UsersOptions): Users {
  const ca = readFileSync(caFile).toString('base64');
  const tokens = new Map<string, string>();
  const lines: string[] = [];
  for (const [user, groups] of Object.entries({ ...everyCluster, ...users })) {
    const token = randomBytes(16).toString('hex');
    tokens.set(user, token);
    lines.push(`${token},${user},uid-${user},"${groups.join(',')}"`);
    writePrivate(kubeconfigOf(user), kubeconfig(url, ca, user, token));
  }
  const tokenFile = join(dir, 'tokens.csv');
  writePrivate(tokenFile, `${lines.join('\n')}\n`);

  function kubeconfigOf(user: string): string {
    return join(dir, `${user}.kubeconfig`);
  }
  function token(user: string): string {
    const known = tokens.get(user);
    if (known === undefined) {
      throw new Error(`the test cluster has no user '${user}'; it has: ${[...tokens.keys()].join(', ')}`);
    }
    return known;
  }
  function kubeconfigFor(user: string): string {
    token(user);
    return kubeconfigOf(user);
  }
  return { tokenFile, token, kubeconfigFor };
}

// JSON is YAML.
function kubeconfig(url: string, ca: string, user: string, token: string): string {
  const cluster = { server: url, 'certificate-authority-data': ca };
  const context = { cluster: 'test', user };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'test', context }],
    'current-context': 'test',
  });
}

function writePrivate(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
}
