/**
 * What tests beside the real Flux and the real Argo CD have in common: what people do to the shop and what is read back of it,
 * a folder that nobody mirrors, and the rights of an installation.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFile } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { configMap, moved, patience } from './shop.ts';
import type { World } from './sidecar.ts';

export const manifests = join(import.meta.dirname, '../../manifests');

/** Of Namespaces that hold the Deployment `web` and the ConfigMap `rates`. @param world as it is when something is done */
export function deedsIn(world: () => World) {
  const read = (name: string, object: string, jsonpath: string) => live(world(), name, object, jsonpath);
  return {
    scale: (name: string, replicas: number) =>
      world().kubectl('scale', 'deployment', 'web', '-n', name, `--replicas=${replicas}`),
    setRate: (name: string, eur: string, map = 'rates') =>
      world().kubectl('patch', 'configmap', map, '-n', name, '-p', JSON.stringify({ data: { eur } })),
    live: read,
    replicas: (name: string) => read(name, 'deployment/web', '.spec.replicas'),
    rate: (name: string) => read(name, 'configmap/rates', '.data.eur'),
    /** Text of a file of the folder apps/shop; '' when it is not there. */
    inGit: async (bareDir: string, file: string) =>
      (await readFile(bareDir, 'main', `apps/shop/${file}`)) ?? '',
  };
}

/** One value of a live object, named `kind/name`. */
export async function live(world: World, name: string, object: string, jsonpath: string): Promise<string> {
  return world.kubectl('get', ...object.split('/'), '-n', name, '-o', `jsonpath={${jsonpath}}`);
}

/** Waits until the apply that wrote to `rates` last is over for the sidecar too, some ten seconds after its end. */
export async function applyIsOver(world: World, name: string): Promise<void> {
  const text = await live(world, name, 'configmap/rates', '.metadata.managedFields[*].time');
  const newest = Math.max(...text.split(' ').map((time) => Date.parse(time)));
  await until('the apply is over', async () => Date.now() >= newest + 20_000, patience);
}

/** What a test adds to the shop, so that an apply of the commit before removes a key and prunes an object. */
export const additions = {
  'apps/shop/rates.yaml': configMap('rates', { eur: '1', usd: '1', gbp: '3' }),
  'apps/shop/extra.yaml': configMap('extra', { a: '1' }),
};

/** Such an apply has taken them away from the cluster, and from nowhere else. */
export async function assertOnlyLiveLost(world: World, name: string, bareDir: string): Promise<void> {
  const { commits } = await moved(world, name, bareDir, async () => undefined);
  const maps = await live(world, name, 'configmap', '.items[*].data');
  assert.doesNotMatch(maps, /"a":|gbp/, 'the apply has taken both away');
  assert.deepEqual(
    commits.map(({ body }) => body),
    [],
  );
  for (const [file, text] of Object.entries(additions)) {
    assert.equal(await readFile(bareDir, 'main', file), text);
  }
}

/** A namespace and a repository of one name, which nobody mirrors. Returns the bare repository. */
export async function unmirrored(
  world: World,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const bareDir = await world.git.createRepository(name, { files: { 'README.md': '# test\n', ...files } });
  await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
  return bareDir;
}

/** Applies the manifests of an installation, and returns a kubeconfig with the rights of its account and nothing else. */
export async function installedAccount(
  world: World,
  { namespace, name, files }: { namespace: string; name: string; files: readonly string[] },
): Promise<string> {
  for (const file of files) await world.kubectl('apply', '-f', join(manifests, file));
  const token = await world.kubectl('create', 'token', name, '-n', namespace, '--duration=10h');
  const config = JSON.parse(readFileSync(world.cluster.kubeconfig, 'utf8'));
  config.users[0].user = { token: token.trim() };
  const file = join(world.folder.path, 'own.kubeconfig');
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
