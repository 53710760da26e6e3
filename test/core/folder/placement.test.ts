import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type PlacementQuestion,
  type PlacementSpec,
  placeDocument,
  validatePlacement,
} from '../../../src/core/folder/placement.ts';

const deployment: PlacementQuestion = {
  id: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
  apiVersion: 'apps/v1',
  resource: 'deployments',
  namespaced: true,
  labels: { team: 'blue', empty: '' },
  sensitive: false,
};
const secret: PlacementQuestion = {
  id: { group: '', kind: 'Secret', namespace: 'shop', name: 'key' },
  apiVersion: 'v1',
  resource: 'secrets',
  namespaced: true,
  labels: {},
  sensitive: true,
};
const role: PlacementQuestion = {
  id: { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', namespace: '', name: 'system:reader' },
  apiVersion: 'rbac.authorization.k8s.io/v1',
  resource: 'clusterroles',
  namespaced: false,
  labels: {},
  sensitive: false,
};

function pathFor(question: PlacementQuestion, spec: PlacementSpec): string {
  return placeDocument(question, spec).path;
}

describe('placement of a new document', () => {
  it('without a template is canonical', () => {
    assert.deepEqual(placeDocument(deployment, {}), {
      path: 'shop/apps/deployments/web.yaml',
      source: 'canonical',
    });
    assert.equal(pathFor(secret, {}), 'shop/secrets/key.sops.yaml');
    assert.equal(pathFor(role, {}), '_cluster/rbac.authorization.k8s.io/clusterroles/system:reader.yaml');
  });

  it('goes by the exact type first, then by the default', () => {
    const spec = {
      byType: { 'apps/v1/deployments': 'd/{name}.yaml' },
      default: 'all/{kind}-{name}{sensitiveSuffix}',
    };
    assert.deepEqual(placeDocument(deployment, spec), { path: 'd/web.yaml', source: 'by_type' });
    assert.deepEqual(placeDocument(secret, spec), { path: 'all/Secret-key.sops.yaml', source: 'default' });
    assert.equal(pathFor({ ...deployment, apiVersion: 'apps/v2' }, spec), 'all/Deployment-web.yaml');
  });

  it('falls through a template it cannot read', () => {
    const spec = { byType: { 'apps/v1/deployments': '{nope}/{name}.yaml' }, default: '{name.yaml' };
    assert.equal(placeDocument(deployment, spec).source, 'canonical');
  });

  it('collapses empty segments and encodes what would be a separator', () => {
    assert.equal(pathFor(secret, { default: '{group}/{groupPath}/{name}.yml' }), 'key.sops.yml');
    assert.equal(
      pathFor(deployment, { default: '{apiVersion}/{scope}/{version}/{name}.yaml' }),
      'apps%2Fv1/namespaced/v1/web.yaml',
    );
    const odd = { ...deployment, labels: { team: 'a\\b%c/..' } };
    assert.equal(pathFor(odd, { default: '{label:team}/{name}.yaml' }), 'a%5Cb%25c%2F../web.yaml');
  });

  it('takes labels and namespaces with a fallback', () => {
    assert.equal(pathFor(deployment, { default: '{label:team}/{name}.yaml' }), 'blue/web.yaml');
    assert.equal(pathFor(deployment, { default: '{label:empty}/{name}.yaml' }), '_unlabeled/web.yaml');
    assert.equal(pathFor(deployment, { default: '{label:gone|_rest}/{name}.yaml' }), '_rest/web.yaml');
    assert.equal(pathFor(deployment, { default: '{label:constructor|}/{name}.yaml' }), 'web.yaml');
    assert.equal(
      pathFor(role, { default: '{namespace|global}/{resource}.yaml' }),
      'global/clusterroles.yaml',
    );
    assert.equal(pathFor(role, { default: '{namespace}/{resource}.yaml' }), '_cluster/clusterroles.yaml');
  });

  it('gives a sensitive document its suffix whatever the template says', () => {
    assert.equal(
      pathFor(secret, { byType: { 'v1/secrets': 's/{namespace}/{name}.yaml' } }),
      's/shop/key.sops.yaml',
    );
    assert.equal(
      pathFor(secret, { byType: { 'v1/secrets': 's/{namespace}/{name}.sops.yaml' } }),
      's/shop/key.sops.yaml',
    );
  });
});

describe('validation of a placement', () => {
  const wrong: [string, PlacementSpec, RegExp][] = [
    ['an unknown variable', { default: '{nmae}.yaml' }, /unknown variable \{nmae\}/],
    ['the removed variable', { default: '{namespaceOrCluster}/{name}.yaml' }, /unknown variable/],
    ['a lone brace', { default: '{name.yaml' }, /brace/],
    ['a nested brace', { default: '{{name}}.yaml' }, /brace/],
    ['an absolute path', { default: '/{name}.yaml' }, /not relative/],
    ['a step upwards', { default: '../{name}.yaml' }, /segment/],
    ['a backslash', { default: 'a\\{name}.yaml' }, /backslash/],
    ['a git folder', { default: '.git/{name}.yaml' }, /git keeps/],
    ['another suffix', { default: '{name}.json' }, /does not end/],
    ['a bad fallback', { default: '{label:a|..}/{name}.yaml' }, /fallback/],
    ['a needless fallback', { default: '{name|x}.yaml' }, /always has a value/],
    [
      'a stripped label',
      { default: '{label:kustomize.toolkit.fluxcd.io/name}/{name}.yaml' },
      /never reaches Git/,
    ],
    ['a bad key', { byType: { deployments: '{name}.yaml' } }, /not \[group\/\]version\/resource/],
    ['a key with blanks', { byType: { 'v1/ pods': '{name}.yaml' } }, /not \[group\/\]/],
    [
      'Secrets that share a file',
      { byType: { 'v1/secrets': '{namespace}/secrets.sops.yaml' } },
      /file of its own/,
    ],
    ['a default that bundles Secrets', { default: '{namespace}/all.yaml' }, /v1\/secrets/],
  ];
  for (const [what, spec, problem] of wrong) {
    it(`names ${what}`, () => {
      const problems = validatePlacement(spec);
      assert.equal(problems.length, 1, problems.join('; '));
      assert.match(problems[0] ?? '', problem);
    });
  }

  it('accepts what works', () => {
    assert.deepEqual(validatePlacement({}), []);
    assert.deepEqual(
      validatePlacement({
        byType: {
          'v1/secrets': 's/{namespace|_}/{name}{sensitiveSuffix}',
          'apps/v1/deployments': 'all.yaml',
        },
        default: '{namespace}/all.yaml',
      }),
      [],
    );
  });

  it('means that every accepted template gives a clean path', () => {
    const piece = fc.constantFrom(
      'a',
      '/',
      '.',
      '..',
      '{name}',
      '{namespace|}',
      '{label:x}',
      '{group}',
      '.git',
      ' ',
      '.yaml',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
        const template = `${pieces.join('')}/{namespace}/{name}.yaml`;
        if (validatePlacement({ default: template }).length > 0) return;
        const placed = placeDocument(deployment, { default: template });
        assert.equal(placed.source, 'default');
        assert.ok(!placed.path.startsWith('/') && !placed.path.includes('//'));
        assert.ok(placed.path.endsWith('/web.yaml'));
      }),
    );
  });
});
