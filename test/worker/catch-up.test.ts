import assert from 'node:assert/strict';
import fc from 'fast-check';
import { objectKey } from '../../src/core/identity.ts';
import type { ObjectVersion } from '../../src/kube/metadata-list.ts';
import { differences } from '../../src/worker/catch-up.ts';

const place = { group: 'apps', kind: 'Deployment', namespace: 'shop' };
const id = (name: string, namespace = 'shop') => ({ ...place, namespace, name });
const listed = (name: string, resourceVersion: string, namespace = 'shop'): ObjectVersion => ({
  ...{ namespace, name, resourceVersion },
});

/** What is known, by object key; `left` is known of an object without a record. */
function known(
  records: ReadonlyMap<string, string>,
  underWay: ReadonlyMap<string, string> = new Map(),
  left: ReadonlyMap<string, string> = new Map(),
) {
  return {
    handled: {
      versions: () => records,
      get(key: string) {
        const resourceVersion = records.get(key) ?? left.get(key);
        return resourceVersion === undefined
          ? undefined
          : { id: id(key), uid: '', digest: '', resourceVersion };
      },
    },
    underWay: { resourceVersion: (key: string) => underWay.get(key) },
  };
}

describe('what a list says beyond what is known', () => {
  it('is nothing when every version is handled, under way, or left by an earlier process', async () => {
    const records = new Map([
      [objectKey(id('handled')), '4'],
      [objectKey(id('edited')), '5'],
    ]);
    const underWay = new Map([
      [objectKey(id('edited')), '9'],
      [objectKey(id('new')), '8'],
    ]);
    const left = new Map([[objectKey(id('left')), '7']]);
    const list = [listed('handled', '4'), listed('edited', '9'), listed('new', '8'), listed('left', '7')];
    assert.deepEqual(await differences(place, list, known(records, underWay, left)), {
      changed: [],
      missing: [],
    });
  });

  it('is every other version, older ones too, and every record that is not listed', async () => {
    const records = new Map([
      [objectKey(id('newer')), '4'],
      [objectKey(id('older')), '6'],
      [objectKey(id('gone')), '3'],
    ]);
    const underWay = new Map([[objectKey(id('newer')), '5']]);
    const list = [listed('newer', '6'), listed('older', '5'), listed('unknown', '7')];
    const found = await differences(place, list, known(records, underWay));
    assert.deepEqual(found.missing, [objectKey(id('gone'))]);
    assert.deepEqual(found.changed, [
      { id: id('newer'), resourceVersion: '6' },
      { id: id('older'), resourceVersion: '5' },
      { id: id('unknown'), resourceVersion: '7' },
    ]);
  });

  it('leaves other kinds, groups and namespaces alone', async () => {
    const others = [
      { ...id('a'), kind: 'DeploymentPlan' },
      { ...id('a'), group: 'apps.example.com' },
      id('a', 'shop-2'),
    ];
    const records = new Map(others.map((other) => [objectKey(other), '1']));
    assert.deepEqual(await differences(place, [], known(records)), { changed: [], missing: [] });
    const everywhere = await differences({ ...place, namespace: '' }, [], known(records));
    assert.deepEqual(everywhere.missing, [objectKey(id('a', 'shop-2'))]);
  });

  it('is the same whatever its size, and lets others have turns while it is found', async () => {
    const names = Array.from({ length: 9_000 }, (_, index) => `n${index}`);
    const records = new Map(names.map((name) => [objectKey(id(name)), '1']));
    const list = names.map((name, index) => listed(name, index === 8_999 ? '2' : '1'));
    let others = 0;
    let goesOn = true;
    const other = () => {
      others += 1;
      if (goesOn) setImmediate(other);
    };
    setImmediate(other);
    const found = await differences(place, list, known(records));
    goesOn = false;
    assert.deepEqual(found.changed, [{ id: id('n8999'), resourceVersion: '2' }]);
    assert.ok(others >= 8, `${others} turns of others`);
  });

  it('is what a comparison object by object finds', async () => {
    const versions = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('1', '2', '3'));
    await fc.assert(
      fc.asyncProperty(versions, versions, versions, async (now, recorded, coming) => {
        const keyed = (of: Record<string, string>) =>
          new Map(Object.entries(of).map(([name, version]) => [objectKey(id(name)), version]));
        const list = Object.entries(now).map(([name, version]) => listed(name, version));
        const found = await differences(place, list, known(keyed(recorded), keyed(coming)));
        const changed = Object.keys(now).filter((name) => (coming[name] ?? recorded[name]) !== now[name]);
        const missing = Object.keys(recorded).filter((name) => now[name] === undefined);
        assert.deepEqual(found.changed.map((one) => one.id.name).sort(), changed.sort());
        assert.deepEqual([...found.missing].sort(), missing.map((name) => objectKey(id(name))).sort());
      }),
    );
  });
});
