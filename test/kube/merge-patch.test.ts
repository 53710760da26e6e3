import assert from 'node:assert/strict';
import fc from 'fast-check';
import { equalJson, isObject, type Json, type JsonObject } from '../../src/core/json.ts';
import { mergePatch } from '../../src/kube/merge-patch.ts';

// RFC 7386, section 2.
function apply(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = apply(result[key], value);
  }
  return result;
}

const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom('', 'a'),
    fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tree, { maxKeys: 3, noNullPrototype: true });

describe('a merge patch', () => {
  it('turns one object into the other', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        assert.deepEqual(apply(from, mergePatch(from, to) ?? {}), to);
      }),
    );
  });

  it('is absent exactly when there is nothing to change', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        assert.equal(mergePatch(from, to) === undefined, equalJson(from, to));
      }),
    );
  });

  it('takes null for absent', () => {
    assert.equal(mergePatch({}, { a: null }), undefined);
    assert.deepEqual(mergePatch({ a: 1 }, { a: null }), { a: null });
  });
});
