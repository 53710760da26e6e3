/* biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of Flux, not of JavaScript. */
import assert from 'node:assert/strict';
import { readFolderApplier } from '../../src/appliers/folder-applier.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { KubeClient, ObjectResult } from '../../src/kube/client.ts';

const source: JsonObject = {
  kind: 'GitRepository',
  spec: { url: 'https://git.example.test/shop.git', ref: { branch: 'main' } },
};

function kustomization(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'shop', namespace: 'flux-system' },
    spec: { path: './apps/shop', sourceRef: { kind: 'GitRepository', name: 'shop' }, ...spec },
  };
}

/** A cluster that holds these objects; what is not among them is not there. */
function clusterOf(objects: Readonly<Record<string, JsonObject | 'forbidden'>>) {
  const asked: string[] = [];
  const client = {
    async get({ resource, namespace, name }: { resource: string; namespace: string; name: string }) {
      const key = `${resource}/${namespace}/${name}`;
      asked.push(key);
      const object = objects[key];
      if (object === 'forbidden') return { kind: 'forbidden', message: 'forbidden' } as ObjectResult;
      return object === undefined
        ? ({ kind: 'not-found', message: `${key} not found` } as ObjectResult)
        : ({ kind: 'ok', object } as ObjectResult);
    },
  };
  return { client: client as unknown as KubeClient, asked };
}

async function substitutionOf(
  spec: JsonObject,
  more: Readonly<Record<string, JsonObject | 'forbidden'>> = {},
) {
  const { client, asked } = clusterOf({
    'kustomizations/flux-system/shop': kustomization(spec),
    'gitrepositories/flux-system/shop': source,
    ...more,
  });
  const found = await readFolderApplier(
    client,
    { kind: 'Flux', namespace: 'flux-system', name: 'shop' },
    { repository: 'git.example.test/shop', branch: 'main', path: 'apps/shop' },
  );
  assert.equal(found.kind, 'applies');
  return { found, asked };
}

describe('what a Flux Kustomization fills in', () => {
  it('is nothing without postBuild, and no ConfigMap is read', async () => {
    const { found, asked } = await substitutionOf({});
    assert.deepEqual(found.substitution, { isSubstituted: false });
    assert.equal(found.isExact, true);
    assert.equal(asked.length, 2);
  });

  it('is taken from substitute and from ConfigMaps and Secrets of its namespace', async () => {
    const { found } = await substitutionOf(
      {
        postBuild: {
          substitute: { REGION: 'eu' },
          substituteFrom: [
            { kind: 'ConfigMap', name: 'vars' },
            { kind: 'Secret', name: 'keys' },
            { kind: 'ConfigMap', name: 'absent', optional: true },
          ],
        },
      },
      {
        'configmaps/flux-system/vars': {
          metadata: { name: 'vars', namespace: 'flux-system' },
          data: { DOMAIN: 'a.test' },
        },
        'secrets/flux-system/keys': {
          metadata: { name: 'keys', namespace: 'flux-system' },
          data: { KEY: 'czNjcjN0' },
        },
      },
    );
    const postBuild = found.substitution?.postBuild;
    assert.deepEqual(
      [...(postBuild?.variables ?? [])].map(([name, { value }]) => [name, value]),
      [
        ['DOMAIN', 'a.test'],
        ['KEY', 's3cr3t'],
        ['REGION', 'eu'],
      ],
    );
    assert.deepEqual(postBuild?.unread, [], 'one that is not there has no values');
  });

  it('is partly unknown when a source may not be read', async () => {
    const { found } = await substitutionOf(
      { postBuild: { substituteFrom: [{ kind: 'Secret', name: 'keys' }] } },
      { 'secrets/flux-system/keys': 'forbidden' },
    );
    assert.deepEqual(found.substitution?.postBuild?.unread, ['Secret flux-system/keys']);
  });
});
/* biome-ignore-end lint/suspicious/noTemplateCurlyInString: variables of Flux, not of JavaScript. */
