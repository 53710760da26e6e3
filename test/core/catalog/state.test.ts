import assert from 'node:assert/strict';
import {
  activationMs,
  type Catalog,
  type Discovery,
  nextCatalog,
  noCatalog,
  removalGraceMs,
  resourceKey,
  type Verdict,
  withoutSensitive,
} from '../../../src/core/catalog/index.ts';
import { policy, served } from './facts.ts';

const widgets = served('widgets.v1.example.org', { origin: 'crd' });
const configMaps = served('configmaps');
const seen = (...resources: Discovery['resources']): Discovery => ({ resources, failed: [] });
const failing: Discovery = {
  resources: [configMaps],
  failed: [{ group: 'example.org', version: 'v1', message: 'no endpoints' }],
};

describe('the catalog over time', () => {
  let catalog: Catalog;

  function look(at: number, discovery: Discovery | undefined): Verdict | undefined {
    catalog = nextCatalog(catalog, discovery, at, policy);
    return catalog.entries.get('widgets.v1.example.org')?.verdict;
  }

  beforeEach(() => {
    catalog = noCatalog;
  });

  it('follows at once what the first look shows', () => {
    assert.deepEqual(look(1000, seen(widgets)), { kind: 'followable' });
    assert.equal(catalog.known && catalog.complete, true);
  });

  it('knows nothing before the first answer', () => {
    look(0, undefined);
    assert.equal(catalog.known, false);
    assert.equal(catalog.complete, false);
    assert.deepEqual(look(30_000, seen(widgets)), { kind: 'followable' });
  });

  it('follows a new type only after it stayed for a while', () => {
    look(0, seen(configMaps));
    assert.deepEqual(look(1000, seen(configMaps, widgets)), { kind: 'unknown', reason: 'settling' });
    assert.deepEqual(look(1000 + activationMs - 1, seen(widgets)), { kind: 'unknown', reason: 'settling' });
    assert.deepEqual(look(1000 + activationMs, seen(widgets)), { kind: 'followable' });
  });

  it('keeps a type that went away for the grace, then forgets it', () => {
    look(0, seen(widgets));
    assert.deepEqual(look(1, seen(configMaps)), { kind: 'retained', reason: 'not-served' });
    assert.deepEqual(look(removalGraceMs - 1, seen(configMaps)), { kind: 'retained', reason: 'not-served' });
    assert.equal(look(removalGraceMs, seen(configMaps)), undefined);
  });

  it('follows a type at once that came back within the grace', () => {
    look(0, seen(widgets));
    look(30_000, seen());
    assert.deepEqual(look(59_000, seen(widgets)), { kind: 'followable' });
  });

  it('never forgets a type of a group that fails', () => {
    look(0, seen(widgets, configMaps));
    assert.deepEqual(look(1, failing), { kind: 'retained', reason: 'discovery-degraded' });
    assert.equal(catalog.complete, false);
    assert.deepEqual(look(10 * removalGraceMs, failing), { kind: 'unknown', reason: 'discovery-degraded' });
    assert.deepEqual(look(10 * removalGraceMs + 1, seen(widgets)), { kind: 'followable' });
  });

  it('never forgets anything while the server does not answer', () => {
    look(0, seen(widgets));
    assert.deepEqual(look(1, undefined), { kind: 'retained', reason: 'catalog-unavailable' });
    assert.deepEqual(look(removalGraceMs, undefined), { kind: 'unknown', reason: 'catalog-unavailable' });
    assert.equal(catalog.known, true);
  });

  it('keeps a refusal while a group fails', () => {
    look(0, seen({ ...widgets, verbs: ['get'] }));
    assert.deepEqual(look(1, failing), { kind: 'refused', reason: 'missing-verb' });
  });
});

describe('the catalog of a target that cannot encrypt', () => {
  it('refuses what is sensitive and leaves the rest as it is', () => {
    const whole = nextCatalog(noCatalog, seen(configMaps, served('secrets')), 0, policy);
    const { entries } = withoutSensitive(whole, policy.isSensitive);
    assert.deepEqual(entries.get(resourceKey(served('secrets')))?.verdict, {
      kind: 'refused',
      reason: 'sensitive-unsupported',
    });
    assert.equal(entries.get(resourceKey(configMaps))?.verdict.kind, 'followable');
  });
});
