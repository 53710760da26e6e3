/**
 * A Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager as processes on loopback.
 * There are no nodes, so no pod ever runs.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { makeCertificate } from './certificate.ts';
import {
  apiServerFlags,
  auditFlags,
  controllerManagerFlags,
  etcdFlags,
  usualControllers,
  writesPolicy,
} from './control-plane-flags.ts';
import { temporaryFolder } from './folder.ts';
import { type PartName, part } from './parts.ts';
import { freePort } from './port.ts';
import { type Program, ready, startProgram } from './program.ts';
import { makeUsers } from './users.ts';

export interface ControlPlaneOptions {
  /** Controllers to run; true (the default) for the usual ones, false for none. */
  readonly controllers?: boolean | readonly string[];
  /** Further flags of the API server, for example --feature-gates=... */
  readonly flags?: readonly string[];
  /** Sends audit events to a webhook. */
  readonly audit?: AuditOptions;
  /** Users besides admin, alice, bob and carol, with their groups. */
  readonly users?: Readonly<Record<string, readonly string[]>>;
}

export interface AuditOptions {
  readonly url: string;
  readonly caFile?: string;
  readonly token?: string;
  /** An audit Policy, as YAML; the default has the metadata of every write. */
  readonly policy?: string;
  /** The longest an event waits for others, as a Go duration. */
  readonly maxWait?: string;
}

export interface ControlPlane {
  readonly url: string;
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly caFile: string;
  /** Everything the control plane writes, its logs included. */
  readonly dir: string;
  readonly pids: readonly number[];
  readonly apiServer: ApiServer;
  kubeconfigFor(user: string): string;
  token(user: string): string;
  stop(): Promise<void>;
}

export interface ApiServer {
  readonly logFile: string;
  running(): boolean;
  /** Ends it, by default without any notice to its clients. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, on the same port with the same data; ends it first when it runs. */
  restart(options?: { readonly flags?: readonly string[] }): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const folder = temporaryFolder('control-plane');
  const dir = folder.path;
  const programs = new Map<PartName, Program>();

  async function stop(): Promise<void> {
    // Nothing is kept, so nobody needs time to say goodbye.
    await Promise.all([...programs.values()].map((program) => program.kill('SIGKILL')));
    await folder.remove();
  }

  async function start(name: PartName, flags: readonly string[]): Promise<Program> {
    const program = await startProgram(part(name), flags, { logFile: join(dir, `${name}.log`), cwd: dir });
    programs.set(name, program);
    return program;
  }

  try {
    const [apiPort, etcdPort, peerPort] = [await freePort(), await freePort(), await freePort()];
    const url = `https://127.0.0.1:${apiPort}`;
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    const { caFile, certFile, keyFile } = await makeCertificate(dir);
    const serviceAccountKey = writeServiceAccountKey(dir);
    const users = makeUsers({ dir, url, caFile, users: options.users ?? {} });
    const { tokenFile } = users;
    const files = { certDir: join(dir, 'certs'), certFile, keyFile, serviceAccountKey, tokenFile };
    const fixedFlags = [
      ...apiServerFlags(apiPort, etcdUrl, files),
      ...(options.audit ? writeAuditFiles(dir, options.audit) : []),
    ];
    let flags = options.flags ?? [];

    async function startApiServer(): Promise<void> {
      const program = await start('kube-apiserver', [...fixedFlags, ...flags]);
      await answers(program, '/readyz');
      await answers(program, '/api/v1/namespaces/default');
    }

    function answers(program: Program, path: string): Promise<void> {
      const token = users.token('admin');
      return ready(program, () => isOk(url, path, token, caFile));
    }

    await start('etcd', etcdFlags(join(dir, 'etcd'), etcdUrl, `http://127.0.0.1:${peerPort}`));
    await startApiServer();
    const controllers =
      options.controllers === true ? usualControllers : (options.controllers ?? usualControllers);
    if (controllers !== false) {
      const kubeconfig = users.kubeconfigFor('admin');
      const program = await start(
        'kube-controller-manager',
        controllerManagerFlags(kubeconfig, caFile, serviceAccountKey, controllers),
      );
      if (controllers.includes('serviceaccount-controller')) {
        await answers(program, '/api/v1/namespaces/default/serviceaccounts/default');
      }
    }

    const apiServer: ApiServer = {
      logFile: join(dir, 'kube-apiserver.log'),
      running: () => programs.get('kube-apiserver')?.running() ?? false,
      kill: async (signal = 'SIGKILL') => programs.get('kube-apiserver')?.kill(signal),
      async restart(changed = {}) {
        await apiServer.kill();
        flags = changed.flags ?? flags;
        await startApiServer();
      },
    };
    return {
      url,
      kubeconfig: users.kubeconfigFor('admin'),
      caFile,
      dir,
      get pids() {
        return [...programs.values()].filter((program) => program.running()).map((program) => program.pid);
      },
      apiServer,
      kubeconfigFor: users.kubeconfigFor,
      token: users.token,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function isOk(url: string, path: string, token: string, caFile: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request(`${url}${path}`, { headers, ca: readFileSync(caFile), agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.setTimeout(5_000, () => asked.destroy(new Error(`no answer from ${path} in 5 s`)));
    asked.on('error', reject);
    asked.end();
  });
}

function writeServiceAccountKey(dir: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const file = join(dir, 'service-account.key');
  writeFileSync(file, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  return file;
}

function writeAuditFiles(dir: string, audit: AuditOptions): string[] {
  mkdirSync(join(dir, 'audit'));
  const policyFile = join(dir, 'audit', 'policy.yaml');
  const webhookConfig = join(dir, 'audit', 'webhook.kubeconfig');
  writeFileSync(policyFile, audit.policy ?? writesPolicy);
  const cluster = { server: audit.url, 'certificate-authority': audit.caFile };
  const user = { token: audit.token };
  // JSON is YAML.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'webhook', cluster }],
    users: [{ name: 'api-server', user }],
    contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'api-server' } }],
    'current-context': 'webhook',
  };
  writeFileSync(webhookConfig, JSON.stringify(config), { mode: 0o600 });
  return auditFlags(policyFile, webhookConfig, audit.maxWait ?? '100ms');
}
