/** What people do to a folder's live objects in a try, and how it is told that it is live and in Git. */
import { type JsonObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient, ObjectResult } from '../../src/kube/client.ts';
import { listFiles, readFile } from '../cluster/repository.ts';
import { configMap, deployment } from '../e2e/shop.ts';

export const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

export interface Edit {
  readonly what: string;
  /** Done once, by a person. */
  make(client: KubeClient): Promise<ObjectResult>;
  isLive(client: KubeClient): Promise<boolean>;
  isInGit(bareDir: string): Promise<boolean>;
}

/** A folder that tries use one after the other, with what only one of them can take away. */
export interface EditedFolder {
  /** Namespace. */
  readonly name: string;
  readonly keys: string[];
  readonly objects: string[];
}

const spares = 40;

export function editedFolder(name: string): EditedFolder {
  const numbers = Array.from({ length: spares }, (_one, index) => index);
  return {
    name,
    keys: numbers.map((number) => `spare${number}`),
    objects: numbers.map((number) => `spare-${number}`),
  };
}

export function filesOf({ keys, objects }: EditedFolder): Record<string, string> {
  const spareKeys = Object.fromEntries(keys.map((key) => [key, '1']));
  return {
    'apps/shop/web.yaml': deployment('web'),
    'apps/shop/queue.yaml': deployment('queue'),
    'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1', ...spareKeys }),
    ...Object.fromEntries(objects.map((name) => [`apps/shop/${name}.yaml`, configMap(name, { a: '1' })])),
  };
}

const kinds = [replicas, rate, addedKey, takenKey, madeObject, takenObject];

/** @param number makes what it sets unlike everything before */
export function someEdit(folder: EditedFolder, number: number, random: () => number): Edit {
  const kind = kinds[Math.floor(random() * kinds.length)] ?? rate;
  return kind(folder, number);
}

function replicas({ name }: EditedFolder, number: number): Edit {
  const value = 3 + number;
  return {
    ...patched(name, 'web', { spec: { replicas: value } }, deployments),
    what: `replicas ${value}`,
    isLive: async (client) =>
      (await valueIn(client, deployments, name, 'web', ['spec', 'replicas'])) === value,
    isInGit: async (bareDir) => new RegExp(`^ {2}replicas: ${value} `, 'm').test(await text(bareDir, 'web')),
  };
}

function rate(folder: EditedFolder, number: number): Edit {
  return setKey(folder, 'eur', `${1_000 + number}`);
}

function addedKey(folder: EditedFolder, number: number): Edit {
  return setKey(folder, `added${number}`, '1');
}

function takenKey(folder: EditedFolder, number: number): Edit {
  const key = folder.keys.pop();
  return key === undefined ? rate(folder, number) : setKey(folder, key, undefined);
}

/** @param value undefined takes the key away */
function setKey({ name }: EditedFolder, key: string, value: string | undefined): Edit {
  const stated = new RegExp(`^ {2}${key}: "?${value ?? '.*'}"?$`, 'm');
  return {
    ...patched(name, 'rates', { data: { [key]: value ?? null } }, configMaps),
    what: value === undefined ? `${key} taken away` : `${key} ${value}`,
    isLive: async (client) => (await valueIn(client, configMaps, name, 'rates', ['data', key])) === value,
    isInGit: async (bareDir) => stated.test(await text(bareDir, 'rates')) === (value !== undefined),
  };
}

function madeObject({ name: namespace }: EditedFolder, number: number): Edit {
  const name = `made-${number}`;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { a: '1' } };
  return {
    what: `${name} made`,
    make: (client) =>
      client.patch(
        { ...configMaps, namespace, name },
        { type: 'apply', body: object },
        { fieldManager: 'kubectl' },
      ),
    isLive: (client) => exists(client, namespace, name),
    isInGit: (bareDir) => isStated(bareDir, name),
  };
}

function takenObject(folder: EditedFolder, number: number): Edit {
  const { name: namespace, objects } = folder;
  const name = objects.pop();
  if (name === undefined) return rate(folder, number);
  return {
    what: `${name} deleted`,
    make: (client) => client.delete({ ...configMaps, namespace, name }),
    isLive: async (client) => !(await exists(client, namespace, name)),
    isInGit: async (bareDir) => !(await isStated(bareDir, name)),
  };
}

function patched(namespace: string, name: string, body: JsonObject, resource: typeof deployments) {
  return {
    make: (client: KubeClient) =>
      client.patch(
        { ...resource, namespace, name },
        { type: 'merge', body },
        { fieldManager: 'kubectl-edit' },
      ),
  };
}

async function valueIn(
  client: KubeClient,
  resource: typeof deployments,
  namespace: string,
  name: string,
  path: readonly string[],
): Promise<unknown> {
  const read = await client.get({ ...resource, namespace, name });
  if (read.kind !== 'ok') throw new Error(read.message);
  return valueAt(read.object, path);
}

async function exists(client: KubeClient, namespace: string, name: string): Promise<boolean> {
  const read = await client.get({ ...configMaps, namespace, name });
  if (read.kind !== 'ok' && read.kind !== 'not-found') throw new Error(read.message);
  return read.kind === 'ok';
}

async function text(bareDir: string, object: string): Promise<string> {
  return (await readFile(bareDir, 'main', `apps/shop/${object}.yaml`)) ?? '';
}

/** Whether any file of the folder has an object of this name. */
async function isStated(bareDir: string, name: string): Promise<boolean> {
  const files = (await listFiles(bareDir, 'main')).filter((path) => path.startsWith('apps/shop/'));
  const texts = await Promise.all(files.map((path) => readFile(bareDir, 'main', path)));
  return texts.some((content) => new RegExp(`^ {2}name: ${name}$`, 'm').test(content ?? ''));
}
