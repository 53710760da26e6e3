import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  type ApplierOwner,
  type ArgocdTracking,
  applierOwner,
  trackingLabel,
  unknownTracking,
  withoutLabel,
} from '../../../src/core/sanitize/index.ts';

const instance = 'app.kubernetes.io/instance';
const byArgocd = [{ manager: 'argocd-controller', operation: 'Update' }];
const byPerson = [{ manager: 'kubectl', operation: 'Update' }];

function told(changed: Partial<ArgocdTracking>): ArgocdTracking {
  return { namespace: 'argocd', method: undefined, label: instance, installation: '', ...changed };
}

interface Marks {
  readonly label?: string;
  readonly key?: string;
  readonly mark?: string;
  readonly installation?: string;
  readonly managedFields?: JsonObject[];
}

function object({ label, key = instance, mark, installation, managedFields = byArgocd }: Marks): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'rates',
      namespace: 'shop',
      managedFields,
      ...(label !== undefined && { labels: { [key]: label, team: 'shop' } }),
      annotations: {
        ...(mark !== undefined && { 'argocd.argoproj.io/tracking-id': `${mark}:/ConfigMap:shop/rates` }),
        ...(installation !== undefined && { 'argocd.argoproj.io/installation-id': installation }),
      },
    },
  };
}

describe('the Application that made an object', () => {
  const rows: [string, Marks, ArgocdTracking, string | undefined][] = [
    ['its label, where Argo CD wrote', { label: 'shop' }, told({}), 'argocd/shop'],
    ['its label, where that is the method', { label: 'shop' }, told({ method: 'label' }), 'argocd/shop'],
    ['its label with a namespace', { label: 'team_shop' }, told({ method: 'label' }), 'team/shop'],
    [
      'a label of another key',
      { label: 'shop', key: 'example.org/app' },
      told({ method: 'label', label: 'example.org/app' }),
      'argocd/shop',
    ],
    ['no key but the one that is set', { label: 'shop' }, told({ label: 'example.org/app' }), undefined],
    ['no label alone', { label: 'shop', managedFields: byPerson }, told({ method: 'label' }), undefined],
    [
      'no label on what only the status of was written',
      {
        label: 'shop',
        managedFields: [{ manager: 'argocd-controller', operation: 'Update', subresource: 'status' }],
      },
      told({ method: 'label' }),
      undefined,
    ],
    [
      'no label where the method is the annotation',
      { label: 'shop' },
      told({ method: 'annotation' }),
      undefined,
    ],
    [
      'the annotation before the label',
      { label: 'chart', mark: 'shop' },
      told({ method: 'annotation+label' }),
      'argocd/shop',
    ],
    ['the annotation where nobody told', { label: 'chart', mark: 'shop' }, told({}), 'argocd/shop'],
    [
      'the label before an annotation of former times',
      { label: 'shop', mark: 'old' },
      told({ method: 'label' }),
      'argocd/shop',
    ],
    ['the annotation until the label is there', { mark: 'old' }, told({ method: 'label' }), 'argocd/old'],
  ];
  for (const [name, marks, tracking, expected] of rows) {
    it(`is told by ${name}`, () => {
      const owner = applierOwner(object(marks), tracking);
      assert.equal(owner && `${owner.namespace}/${owner.name}`, expected);
    });
  }

  it('is another installation’s where the installation id says so, and only where ours is known', () => {
    const isForeign = (installation: string | undefined, ours: string | undefined) =>
      applierOwner(
        object({ mark: 'shop', ...(installation !== undefined && { installation }) }),
        told({ installation: ours }),
      )?.isForeign === true;
    assert.equal(isForeign('one', 'one'), false);
    assert.equal(isForeign(undefined, ''), false);
    assert.equal(isForeign('other', 'one'), true);
    assert.equal(isForeign(undefined, 'one'), true);
    assert.equal(isForeign('other', ''), true);
    assert.equal(isForeign('other', undefined), false);
  });

  it('is in no namespace where nobody told which', () => {
    assert.deepEqual(applierOwner(object({ mark: 'shop' }), unknownTracking), {
      kind: 'ArgoCD',
      namespace: '',
      name: 'shop',
    });
  });
});

describe('the label that tracking adds', () => {
  const shop: ApplierOwner = { kind: 'ArgoCD', namespace: 'argocd', name: 'shop' };
  const long = `${'a'.repeat(62)}-tail`;
  const rows: [string, Marks, ArgocdTracking, ApplierOwner, boolean][] = [
    ['is bookkeeping', { label: 'shop' }, told({ method: 'label' }), shop, true],
    ['is bookkeeping where nobody told the method', { label: 'shop' }, told({}), shop, true],
    ['is somebody’s with another value', { label: 'web' }, told({ method: 'label' }), shop, false],
    [
      'is Git’s where the annotation is the method',
      { label: 'shop' },
      told({ method: 'annotation' }),
      shop,
      false,
    ],
    ['may be Git’s beside an annotation', { label: 'shop', mark: 'shop' }, told({}), shop, false],
    [
      'is bookkeeping beside an annotation where both are the method',
      { label: 'shop', mark: 'shop' },
      told({ method: 'annotation+label' }),
      shop,
      true,
    ],
    [
      'is cut to what a label holds',
      { label: 'a'.repeat(62) },
      told({ method: 'annotation+label' }),
      { ...shop, name: long },
      true,
    ],
    [
      'is never cut where it names the Application',
      { label: 'a'.repeat(62) },
      told({ method: 'label' }),
      { ...shop, name: long },
      false,
    ],
  ];
  for (const [name, marks, tracking, owner, expected] of rows) {
    it(name, () => {
      assert.equal(trackingLabel(object(marks), owner, tracking), expected ? instance : undefined);
    });
  }

  it('names the namespace of an Application elsewhere', () => {
    const owner = { ...shop, namespace: 'team' };
    assert.equal(trackingLabel(object({ label: 'team_shop' }), owner, told({})), instance);
    assert.equal(trackingLabel(object({ label: 'shop' }), owner, told({})), undefined);
  });

  it('is nothing of Flux', () => {
    assert.equal(trackingLabel(object({ label: 'shop' }), { ...shop, kind: 'Flux' }, told({})), undefined);
  });

  it('can be taken off, and an empty map of labels with it', () => {
    const one = { metadata: { name: 'a', labels: { [instance]: 'shop' } } };
    assert.deepEqual(withoutLabel(one, instance), { metadata: { name: 'a' } });
    const two = object({ label: 'shop' });
    assert.deepEqual(withoutLabel(two, 'no-label'), two);
    assert.deepEqual(JSON.stringify(withoutLabel(two, instance)).includes(instance), false);
    assert.equal(JSON.stringify(two).includes(instance), true, 'the input is not changed');
  });
});
