import assert from 'node:assert/strict';
import { fieldOwners, knownAppliers, roleOf } from '../../../src/core/intent/managers.ts';
import type { JsonObject, Path } from '../../../src/core/json.ts';

const live: JsonObject = {
  metadata: {
    annotations: { 'a.b/c': 'x' },
    finalizers: ['one', 'two'],
    managedFields: [
      {
        manager: 'kustomize-controller',
        operation: 'Apply',
        fieldsV1: {
          'f:metadata': { 'f:finalizers': { 'v:"one"': {} } },
          'f:spec': {
            'f:replicas': {},
            'f:selector': {},
            'f:ports': { 'k:{"port":53,"protocol":"UDP"}': { '.': {}, 'f:port': {} } },
            'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:name': {}, 'f:image': {} } },
          },
        },
      },
      {
        manager: 'kubectl-edit',
        operation: 'Update',
        fieldsV1: {
          'f:metadata': { 'f:annotations': { '.': {}, 'f:a.b/c': {} }, 'f:finalizers': { 'v:"two"': {} } },
          'f:spec': {
            'f:selector': { 'f:app': {} },
            'f:ports': { 'k:{"port":53,"protocol":"TCP"}': { 'f:targetPort': {} } },
            'f:list': { 'i:1': {} },
          },
        },
      },
      {
        manager: 'kube-controller-manager',
        operation: 'Update',
        subresource: 'status',
        fieldsV1: { 'f:status': {} },
      },
      { manager: 'before-first-apply', operation: 'Update', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      { manager: 'broken', operation: 'Update', fieldsV1: 'no object' },
    ],
  },
  spec: {
    replicas: 2,
    selector: { app: 'web', tier: 'front' },
    ports: [
      { port: 53, protocol: 'TCP', targetPort: 5353 },
      { port: 53, protocol: 'UDP' },
    ],
    containers: [
      { name: 'side', image: 's' },
      { name: 'web', image: 'w' },
    ],
    list: ['a', 'b'],
  },
  status: { ready: true },
};

describe('owners of a field', () => {
  const owners = fieldOwners(live);
  const names = (path: Path) => owners.of(path).map(({ manager }) => manager);

  const table: [string, Path, string[]][] = [
    ['a member', ['spec', 'replicas'], ['kustomize-controller']],
    ['a key with dots', ['metadata', 'annotations', 'a.b/c'], ['kubectl-edit']],
    ['an item by its keys, whatever its position', ['spec', 'ports', 1], ['kustomize-controller']],
    ['its twin of another protocol', ['spec', 'ports', 0, 'targetPort'], ['kubectl-edit']],
    ['an item nobody owns', ['spec', 'containers', 0, 'image'], []],
    ['an item by name', ['spec', 'containers', 1, 'image'], ['kustomize-controller']],
    ['an entry of a set', ['metadata', 'finalizers', 1], ['kubectl-edit']],
    ['an item by position', ['spec', 'list', 1], ['kubectl-edit']],
    ['a whole that names more than the place', ['spec', 'selector', 'tier'], ['kustomize-controller']],
    ['the more exact owner before the one around', ['spec', 'selector', 'app'], ['kubectl-edit']],
    ['all owners below a container', ['spec', 'ports'], ['kustomize-controller', 'kubectl-edit']],
    ['a place nobody owns', ['spec', 'other'], []],
    ['a list position that is not there', ['spec', 'containers', 7], []],
  ];
  for (const [name, path, expected] of table) {
    it(`finds ${name}`, () => assert.deepEqual(names(path), expected));
  }

  it('keeps the subresource', () => {
    assert.deepEqual(owners.of(['status', 'ready']), [
      { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status' },
    ]);
  });

  it('tells the owner of the very field from the owner of the whole around it', () => {
    assert.deepEqual(owners.exactly(['spec', 'selector', 'tier']), []);
    assert.equal(owners.exactly(['spec', 'selector', 'app']).length, 1);
  });

  it('knows nothing without managedFields', () => {
    const none = fieldOwners({ metadata: { name: 'a' }, spec: {} });
    assert.equal(none.known, false);
    assert.deepEqual(none.of(['spec']), []);
  });
});

describe('the role of a manager', () => {
  const rules = { appliers: ['kustomize-controller'], ignore: ['bot-*', 'nightly'] };
  const role = (manager: string, subresource = '') =>
    roleOf({ manager, operation: 'Update', subresource }, rules);

  const table: [string, string, string][] = [
    ['kustomize-controller', '', 'applier'],
    ['argocd-controller', '', 'person'],
    ['argocd-server', '', 'person'],
    ['kubectl-edit', '', 'person'],
    ['kubectl-client-side-apply', '', 'person'],
    ['Mozilla', '', 'person'],
    ['helm', '', 'person'],
    ['some-unheard-of-tool', '', 'person'],
    ['kubectl', 'scale', 'person'],
    ['kubectl-edit', 'status', 'controller'],
    ['kube-controller-manager', 'scale', 'controller'],
    ['kube-controller-manager', '', 'controller'],
    ['cainjector', '', 'controller'],
    ['cert-manager-certificates-issuing', '', 'controller'],
    ['helm-controller', '', 'controller'],
    ['keda-operator', 'scale', 'controller'],
    ['manager', '', 'controller'],
    ['gitops-reverser', '', 'controller'],
    ['bot-7', '', 'controller'],
    ['nightly', '', 'controller'],
    ['nightly-2', '', 'person'],
  ];
  for (const [manager, subresource, expected] of table) {
    it(`${manager}${subresource === '' ? '' : `/${subresource}`} is ${expected}`, () => {
      assert.equal(role(manager, subresource), expected);
    });
  }

  it('calls no known applier a controller, because a mirror records what it applies', () => {
    for (const manager of Object.values(knownAppliers).flat()) {
      assert.equal(
        roleOf({ manager, operation: 'Apply', subresource: '' }, { appliers: [], ignore: [] }),
        'person',
      );
    }
  });
});
