import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import {
  applierOwner,
  digest,
  isTerminating,
  isUnowned,
  neverMirrored,
  sanitize,
} from '../../../src/core/sanitize/index.ts';

function read(text: string): JsonObject {
  const value: unknown = parse(text);
  assert.ok(isJsonObject(value));
  return value;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe('sanitizing a live object', () => {
  it('keeps every top-level field but status', () => {
    const storage = read(
      '{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: p, parameters: {a: b}, status: {}}',
    );
    assert.deepEqual(Object.keys(sanitize(storage)), ['apiVersion', 'kind', 'provisioner', 'parameters']);
  });

  it('keeps of metadata what names the object, labels and annotations', () => {
    const live = read(`
metadata:
  name: a
  namespace: b
  uid: u
  resourceVersion: "1"
  generation: 1
  creationTimestamp: x
  selfLink: x
  managedFields: []
  ownerReferences: []
  finalizers: [f]
  generateName: g
  labels: {team: a, kustomize.toolkit.fluxcd.io/name: x, kro.run/owned: x, applyset.kubernetes.io/part-of: x, app.kubernetes.io/instance: i}
  annotations:
    argocd.argoproj.io/tracking-id: x
    argocd.argoproj.io/installation-id: x
    argocd.argoproj.io/sync-wave: "1"
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    deployment.kubernetes.io/revision: "3"
    control-plane.alpha.kubernetes.io/leader: x
    autoscaling.alpha.kubernetes.io/conditions: x
    kcp.io/cluster: x
    reconcile.fluxcd.io/requestedAt: x
    meta.helm.sh/release-name: r
    a.b/c: kept
`);
    assert.deepEqual(sanitize(live).metadata, {
      name: 'a',
      namespace: 'b',
      labels: { team: 'a', 'app.kubernetes.io/instance': 'i' },
      annotations: { 'argocd.argoproj.io/sync-wave': '1', 'meta.helm.sh/release-name': 'r', 'a.b/c': 'kept' },
    });
  });

  it('drops maps of labels and annotations that hold only bookkeeping', () => {
    const live = read('{metadata: {name: a, annotations: {kcp.io/cluster: x}, labels: {}}}');
    assert.deepEqual(sanitize(live).metadata, { name: 'a' });
  });

  it('cleans the object only, never a pod template', () => {
    const template = {
      metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' }, creationTimestamp: null },
    };
    assert.deepEqual(sanitize({ metadata: {}, spec: { template } }).spec, { template });
  });

  it('drops addresses the cluster allocated, and keeps a headless Service headless', () => {
    const service = (clusterIP: string) =>
      read(
        `{apiVersion: v1, kind: Service, spec: {clusterIP: "${clusterIP}", clusterIPs: ["${clusterIP}"], ipFamilies: [IPv4], healthCheckNodePort: 3, type: ClusterIP}}`,
      );
    assert.deepEqual(sanitize(service('10.0.0.1')).spec, { type: 'ClusterIP' });
    assert.deepEqual(sanitize(service('None')).spec, { clusterIP: 'None', type: 'ClusterIP' });
    const claim = read(
      '{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: v, accessModes: [a]}}',
    );
    assert.deepEqual(sanitize(claim).spec, { accessModes: ['a'] });
    const other = read('{apiVersion: shop.example.test/v1, kind: Service, spec: {clusterIP: mine}}');
    assert.deepEqual(sanitize(other).spec, { clusterIP: 'mine' });
  });

  it('shares what it does not touch and never changes its input', () => {
    const live = Object.freeze(
      read('{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u}, data: {a: b}}'),
    );
    assert.equal(sanitize(live).data, live.data);
    assert.ok(isObject(live.metadata) && live.metadata.uid === 'u');
    assert.deepEqual(sanitize(sanitize(live)), sanitize(live));
  });

  it('calls unowned in a file exactly what it strips', () => {
    const service = read('{apiVersion: v1, kind: Service}');
    const table: [(string | number)[], boolean][] = [
      [['status'], true],
      [['status', 'x'], true],
      [['metadata', 'finalizers'], true],
      [['metadata', 'ownerReferences', 0, 'uid'], true],
      [['metadata', 'name'], false],
      [['metadata', 'labels'], false],
      [['metadata', 'labels', 'kro.run/x'], true],
      [['metadata', 'annotations', 'kubectl.kubernetes.io/x'], true],
      [['metadata', 'annotations', 'argocd.argoproj.io/sync-wave'], false],
      [['spec', 'clusterIP'], true],
      [['spec', 'type'], false],
      [['spec', 'template', 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt'], false],
    ];
    for (const [path, expected] of table) assert.equal(isUnowned(service, path), expected, path.join(' '));
  });

  it('knows an object that waits for its end', () => {
    assert.equal(isTerminating(read('{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}}')), true);
    assert.equal(isTerminating(read('{metadata: {deletionTimestamp: null}}')), false);
  });
});

describe('the applier of an object', () => {
  const object = (metadata: string) =>
    read(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, ${metadata}}}`);
  const flux =
    'labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}';
  const argo = (id: string) => `annotations: {argocd.argoproj.io/tracking-id: "${id}"}`;
  const table: [string, string, object | undefined][] = [
    ['Flux labels', flux, { kind: 'Flux', namespace: 'flux-system', name: 'apps' }],
    ['half of the Flux labels', 'labels: {kustomize.toolkit.fluxcd.io/name: apps}', undefined],
    [
      'an Argo CD tracking id',
      argo('shop:apps/Deployment:shop/web'),
      { kind: 'ArgoCD', namespace: '', name: 'shop' },
    ],
    [
      'an Application of another namespace',
      argo('team_shop:apps/Deployment:shop/web'),
      { kind: 'ArgoCD', namespace: 'team', name: 'shop' },
    ],
    ['a tracking id copied from another object', argo('shop:apps/Deployment:shop/other'), undefined],
    ['a tracking id of another kind', argo('shop:/Service:shop/web'), undefined],
    ['text that is no tracking id', argo('nonsense'), undefined],
    ['no mark', 'labels: {a: b}', undefined],
  ];
  for (const [name, metadata, expected] of table) {
    it(`is read from ${name}`, () => assert.deepEqual(applierOwner(object(metadata)), expected));
  }

  it('is Flux when both left marks', () => {
    assert.equal(applierOwner(object(`${flux}, ${argo('shop:apps/Deployment:shop/web')}`))?.kind, 'Flux');
  });

  it('may track an object whose name holds colons', () => {
    const role = read(
      '{kind: ClusterRole, metadata: {name: "system:x", annotations: {argocd.argoproj.io/tracking-id: "shop:rbac.authorization.k8s.io/ClusterRole:shop/system:x"}}}',
    );
    assert.equal(applierOwner(role)?.name, 'shop');
  });
});

describe('objects that are never mirrored', () => {
  const object = (apiVersion: string, kind: string, name = 'a') => ({ apiVersion, kind, metadata: { name } });
  const table: [JsonObject, RegExp | undefined][] = [
    [object('v1', 'ConfigMap', 'kube-root-ca.crt'), /every namespace/],
    [object('v1', 'ConfigMap', 'mine'), undefined],
    [object('v1', 'Secret', 'kube-root-ca.crt'), undefined],
    [object('configbutler.ai/v1alpha3', 'GitTarget'), /GitOps Reverser/],
    [object('v1', 'Pod'), /Pods/],
    [object('v1', 'Event'), /Events/],
    [object('events.k8s.io/v1', 'Event'), /Events/],
    [object('coordination.k8s.io/v1', 'Lease'), /Leases/],
    [object('discovery.k8s.io/v1', 'EndpointSlice'), /EndpointSlices/],
    [object('apps/v1', 'Deployment'), undefined],
    [object('shop.example.test/v1', 'Lease'), undefined],
  ];
  for (const [live, expected] of table) {
    it(`${String(live.apiVersion)} ${String(live.kind)} ${expected === undefined ? 'may be' : 'is not, and says why'}`, () => {
      const why = neverMirrored(live);
      if (expected === undefined) assert.equal(why, undefined);
      else assert.match(why ?? '', expected);
    });
  }
});

describe('the digest of an object', () => {
  it('is the same for the same meaning in another key order, and another for another value', () => {
    assert.equal(digest({ a: 1, b: 2n }), digest({ b: 2n, a: 1 }));
    assert.notEqual(digest({ a: 1 }), digest({ a: '1' }));
    assert.match(digest({}), /^[0-9a-f]{64}$/);
  });

  it('depends on the key when there is one', () => {
    const key = new Uint8Array([1, 2, 3]);
    assert.notEqual(digest({ a: 1 }, key), digest({ a: 1 }));
    assert.equal(digest({ a: 1 }, key), digest({ a: 1 }, Uint8Array.from(key)));
    assert.notEqual(digest({ a: 1 }, key), digest({ a: 1 }, new Uint8Array([1, 2, 4])));
  });
});
