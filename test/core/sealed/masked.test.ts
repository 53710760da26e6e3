import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type JsonObject, printJson } from '../../../src/core/json.ts';
import { type Mask, masked, unmasked } from '../../../src/core/sealed/index.ts';

const mask: Mask = (path, value) =>
  `hmac:${createHash('sha256').update(JSON.stringify(path)).update(printJson(value)).digest('hex')}`;

const secret: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'shop', annotations: { note: 'hunter2-note' } },
  type: 'Opaque',
  data: { password: 'aHVudGVyMg==', same: 'aHVudGVyMg==', none: null },
};

describe('the remembered state of a sensitive object', () => {
  it('shows which object it is and nothing of what is in it', () => {
    const state = masked(secret, mask);
    assert.deepEqual(Object.keys(state), Object.keys(secret));
    assert.deepEqual([state.apiVersion, state.kind], ['v1', 'Secret']);
    assert.match(printJson(state), /"name":"db","namespace":"shop"/);
    assert.doesNotMatch(printJson(state), /hunter2|aHVudGVy|Opaque/);
  });

  it('does not tell that two of its values are the same', () => {
    const { data } = masked(secret, mask);
    assert.ok(typeof data === 'object' && data !== null && !Array.isArray(data));
    assert.notEqual(data.password, data.same);
  });

  it('gives back the values that are still the same, and only those', () => {
    const now: JsonObject = { ...secret, data: { password: 'bmV3', same: 'aHVudGVyMg==', none: null } };
    const { data, type } = unmasked(masked(secret, mask), now, mask);
    assert.deepEqual(data, {
      password: mask(['data', 'password'], 'aHVudGVyMg=='),
      same: 'aHVudGVyMg==',
      none: null,
    });
    assert.equal(type, 'Opaque');
  });

  it('is the object again for the very object, whatever is in it', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          tie('any'),
          { maxKeys: 3 },
        ),
      ),
    })).any;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'spec', 'data'), value), (content) => {
        const object = JSON.parse(JSON.stringify({ ...secret, ...content })) as JsonObject;
        assert.deepEqual(unmasked(masked(object, mask), object, mask), object);
      }),
      { numRuns: 100 },
    );
  });
});
