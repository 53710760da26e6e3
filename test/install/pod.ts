/**
 * Containers of an installation without a kubelet: the manifests as the real kustomize builds them, and a container's process
 * started here with exactly its arguments and environment, its mounts in a temporary folder and its ports moved.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isObject, type Json, type JsonObject, valueAt } from '../../src/core/json.ts';
import { part } from '../cluster/parts.ts';
import { freePort } from '../cluster/port.ts';
import { runOk } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';

const root = join(import.meta.dirname, '../..');
export const manifests = join(root, 'manifests');

export interface Built {
  readonly text: string;
  readonly objects: readonly JsonObject[];
}

/**
 * Builds an installation: official manifests (files or folders), our resources and components (below manifests/).
 * @param dir an empty folder
 */
export async function build(
  dir: string,
  wanted: {
    readonly official?: readonly string[];
    readonly resources?: readonly string[];
    readonly components?: readonly string[];
    readonly namespace?: string;
  },
): Promise<Built> {
  cpSync(manifests, join(dir, 'manifests'), { recursive: true });
  const official = (wanted.official ?? []).map((from, index) => {
    const to = from.endsWith('.yaml') ? `official-${index}.yaml` : `official-${index}`;
    cpSync(from, join(dir, to), { recursive: true, mode: 0 });
    return to;
  });
  const ours = (names: readonly string[] = []) => names.map((name) => join('manifests', name));
  const kustomization = {
    ...(wanted.namespace && { namespace: wanted.namespace }),
    resources: [...official, ...ours(wanted.resources)],
    components: ours(wanted.components),
    images: [{ name: 'gitops-reverser-sidecar', newName: 'registry.example.com/sidecar', newTag: '1.2.3' }],
  };
  writeFileSync(join(dir, 'kustomization.yaml'), JSON.stringify(kustomization));
  const text = await runOk(part('kustomize'), ['build', dir]);
  return { text, objects: parseAllDocuments(text).map((document) => document.toJS()) };
}

/** `spec.template.spec` of a Deployment. */
export function podSpec({ objects }: Built, name: string): JsonObject {
  const found = objects.find(
    (one) => one.kind === 'Deployment' && valueAt(one, ['metadata', 'name']) === name,
  );
  const spec = valueAt(found, ['spec', 'template', 'spec']);
  assert.ok(isObject(spec), `there is no Deployment ${name}`);
  return spec;
}

export function container(pod: JsonObject, name: string): JsonObject {
  const found = [...list(pod.containers), ...list(pod.initContainers)].find((one) => one.name === name);
  assert.ok(found !== undefined, `the pod has no container ${name}`);
  return found;
}

export function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export interface Volumes {
  /** Files of a volume by its name; one that is not named is an empty folder. */
  readonly [volume: string]: Readonly<Record<string, string>>;
}

/** A pod that was given a place: folders for its volumes, an address and free ports. */
export class Pod {
  readonly #spec: JsonObject;
  readonly #dir: string;
  readonly #fields: Readonly<Record<string, string>>;
  readonly #ports = new Map<string, number>();
  readonly #children = new Set<ChildProcess>();

  /** @param volumes what Kubernetes would mount: tokens, Secrets, ConfigMaps */
  constructor(
    spec: JsonObject,
    options: {
      readonly dir: string;
      readonly name: string;
      readonly namespace: string;
      readonly volumes: Volumes;
    },
  ) {
    this.#spec = spec;
    this.#dir = options.dir;
    this.#fields = {
      'metadata.name': options.name,
      'metadata.namespace': options.namespace,
      'status.podIP': '127.0.0.1',
    };
    for (const { name } of list(spec.volumes)) {
      const folder = join(options.dir, String(name));
      mkdirSync(folder, { recursive: true });
      for (const [file, text] of Object.entries(options.volumes[String(name)] ?? {})) {
        writeFileSync(join(folder, file), text, { mode: 0o600 });
      }
    }
  }

  /** Where a container's file is here. Longer mounts win. */
  path(name: string, path: string): string {
    const mounts = list(container(this.#spec, name).volumeMounts).map((mount) => ({
      at: String(mount.mountPath),
      volume: String(mount.name),
    }));
    const mount = mounts
      .toSorted((one, other) => other.at.length - one.at.length)
      .find(({ at }) => path === at || path.startsWith(`${at}/`));
    assert.ok(mount !== undefined, `${name} mounts nothing at ${path}`);
    return join(this.#dir, mount.volume, path.slice(mount.at.length));
  }

  async port(number: number): Promise<number> {
    const known = this.#ports.get(String(number)) ?? (await freePort());
    this.#ports.set(String(number), known);
    return known;
  }

  /** Arguments with this machine's paths and ports. */
  async args(name: string): Promise<string[]> {
    const { args } = container(this.#spec, name);
    assert.ok(Array.isArray(args), `${name} has no args`);
    return await Promise.all(args.map((arg) => this.#here(name, String(arg))));
  }

  async env(name: string): Promise<Record<string, string>> {
    const entries = list(container(this.#spec, name).env).map(
      async ({ name: variable, value, valueFrom }) => {
        const field = valueAt(valueFrom, ['fieldRef', 'fieldPath']);
        const text = typeof field === 'string' ? this.#fields[field] : String(value);
        assert.ok(text !== undefined, `${field} is not known here`);
        return [String(variable), await this.#here(name, text)] as const;
      },
    );
    return Object.fromEntries(await Promise.all(entries));
  }

  async #here(name: string, text: string): Promise<string> {
    const [, flag = '', value = text] = /^(--[a-z-]+=)(.*)$/.exec(text) ?? [];
    if (value.startsWith('/')) return `${flag}${this.path(name, value)}`;
    const [, host = '', port] = /^(.*):(97\d\d)$/.exec(value) ?? [];
    // Every address here is loopback, so that nothing of a test can be reached from elsewhere.
    return port === undefined ? text : `${flag}${host || '127.0.0.1'}:${await this.port(Number(port))}`;
  }

  /** Starts our process as the container would; what is not in its arguments is added after them. */
  async start(name: string, further: readonly string[]): Promise<{ log(): string; child: ChildProcess }> {
    const args = await this.args(name);
    const own = ['--health-bind-address', `127.0.0.1:${await this.port(9796)}`];
    const metrics = ['--metrics-bind-address', `127.0.0.1:${await this.port(9795)}`];
    const child = spawn('node', [join(root, 'src/main.ts'), ...args, ...own, ...metrics, ...further], {
      env: { PATH: process.env.PATH, TMPDIR: this.path(name, '/tmp'), ...(await this.env(name)) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#children.add(child);
    let text = '';
    child.stderr?.on('data', (chunk) => {
      text += chunk;
    });
    return { child, log: () => text };
  }

  /** Asks a container's probe the way the kubelet does, until it passes. */
  async probe(name: string, which: 'startupProbe' | 'livenessProbe' | 'readinessProbe', log: () => string) {
    const get = valueAt(container(this.#spec, name), [which, 'httpGet']);
    assert.ok(isObject(get), `${name} has no ${which}`);
    const url = `http://127.0.0.1:${await this.port(Number(get.port))}${get.path}`;
    await until(`${which} of ${name}`, async () => (await fetch(url)).status === 200, {
      timeoutMs: 60_000,
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${log()}`);
    });
  }

  async stop(): Promise<void> {
    const ended = [...this.#children].map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    });
    await Promise.all(ended);
  }
}

/** A kubeconfig for a token, in the place of what a pod has. */
export function kubeconfigFor(file: string, admin: string, token: string): string {
  const config = JSON.parse(readFileSync(admin, 'utf8'));
  config.users[0].user = { token: token.trim() };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(config));
  chmodSync(file, 0o600);
  return file;
}

/** What every container of ours must be denied. */
export function assertUnprivileged(one: JsonObject): void {
  const { securityContext } = one;
  assert.ok(isObject(securityContext), `${one.name} has no securityContext`);
  const { runAsNonRoot, runAsUser, readOnlyRootFilesystem, allowPrivilegeEscalation } = securityContext;
  assert.deepEqual(
    { runAsNonRoot, runAsUser, readOnlyRootFilesystem, allowPrivilegeEscalation },
    { runAsNonRoot: true, runAsUser: 999, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  );
  assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] });
  assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' });
}
