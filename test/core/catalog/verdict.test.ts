import assert from 'node:assert/strict';
import {
  excludedTypes,
  isExcludedObject,
  judgeServed,
  resourceKey,
  type ServedResource,
  type Verdict,
} from '../../../src/core/catalog/index.ts';
import { policy, served } from './facts.ts';

function verdict(
  resource: ServedResource,
  others: ServedResource[] = [],
  sensitiveSupported = true,
): Verdict | undefined {
  const discovery = { resources: [resource, ...others], failed: [] };
  return judgeServed(discovery, { ...policy, sensitiveSupported }).get(resourceKey(resource))?.verdict;
}

describe('the verdict on a served type', () => {
  it('follows what can be got, listed and watched, without asking for patch', () => {
    const readable = served('configmaps', { verbs: ['get', 'list', 'watch'] });
    assert.deepEqual(verdict(readable), { kind: 'followable' });
  });

  for (const [reason, resource] of [
    ['missing-verb', served('tokenreviews', { verbs: ['create'] })],
    ['missing-verb', served('bindings', { verbs: ['get', 'list'] })],
    ['scope-unknown', served('things.v1.example.org', { namespaced: undefined })],
    ['origin-unknown', served('things.v1.example.org', { origin: 'unknown' })],
    [
      'scale-path-unresolved',
      served('things.v1.example.org', { origin: 'aggregated', subresources: ['scale'] }),
    ],
    ['denied-by-policy', served('pods')],
    ['denied-by-policy', served('gittargets.v1alpha3.configbutler.ai', { origin: 'crd' })],
  ] as const) {
    it(`refuses ${resourceKey(resource)} for ${reason}`, () => {
      assert.deepEqual(verdict(resource), { kind: 'refused', reason });
    });
  }

  it('follows a scalable type whose path is known', () => {
    const rollouts = served('rollouts.v1alpha1.argoproj.io', {
      subresources: ['scale'],
      scalePath: '.spec.replicas',
    });
    assert.deepEqual(verdict(rollouts), { kind: 'followable' });
  });

  it('refuses two resources of one kind, and one resource listed twice', () => {
    const one = served('things.v1.example.org', { kind: 'Thing' });
    const twin = served('thingies.v1.example.org', { kind: 'Thing' });
    assert.deepEqual(verdict(one, [twin]), { kind: 'refused', reason: 'gvk-not-unique' });
    const again = served('things.v1.example.org', { kind: 'OtherThing' });
    assert.deepEqual(verdict(one, [again]), { kind: 'refused', reason: 'gvr-not-unique' });
  });

  it('takes the same kind in two versions or groups for what it is', () => {
    const others = [served('things.v2.example.org'), served('things.v1.example.com')];
    assert.deepEqual(verdict(served('things.v1.example.org'), others), { kind: 'followable' });
  });

  it('refuses sensitive types while nothing can be encrypted', () => {
    assert.deepEqual(verdict(served('secrets'), [], false), {
      kind: 'refused',
      reason: 'sensitive-unsupported',
    });
    assert.deepEqual(verdict(served('secrets')), { kind: 'followable' });
    assert.deepEqual(verdict(served('configmaps'), [], false), { kind: 'followable' });
  });

  it('never follows what is on the exclusion list', () => {
    const left = excludedTypes.map(({ group, resource }) => `${group}/${resource}`);
    assert.deepEqual(left, [
      '/pods',
      '/events',
      '/endpoints',
      'events.k8s.io/events',
      'discovery.k8s.io/endpointslices',
      'coordination.k8s.io/leases',
      'apps/controllerrevisions',
      'flowcontrol.apiserver.k8s.io/flowschemas',
      'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
      'batch/jobs',
      'batch/cronjobs',
      'configbutler.ai/*',
    ]);
    assert.equal(isExcludedObject('', 'ConfigMap', 'kube-root-ca.crt'), true);
    assert.equal(isExcludedObject('', 'ConfigMap', 'kube-root-ca'), false);
    assert.equal(isExcludedObject('', 'Secret', 'kube-root-ca.crt'), false);
  });
});
