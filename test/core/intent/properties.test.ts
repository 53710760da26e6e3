import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Intent, intentOf } from '../../../src/core/intent/index.ts';
import { kindSchema } from '../../../src/core/intent/schema/index.ts';
import {
  canonicalJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  valueAt,
} from '../../../src/core/json.ts';
import { deepFreeze } from './scene.ts';

/** Any kind without a schema: no defaults, lists of items with unique names are keyed, all other lists are one value. */
const schema = kindSchema('shop.example.test/v1', 'Widget');

const key = fc.constantFrom('a', 'b', 'c.d', 'e/f', 'image', 'labels');
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom('x', 'y', '1', '', 'a.b'),
  fc.boolean(),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 60n + 2n }),
);
const { tree } = fc.letrec<{ tree: Json; map: JsonObject; items: Json[]; plain: Json[] }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    tie('map'),
    tie('items'),
    tie('plain'),
  ),
  map: fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  items: fc
    .uniqueArray(fc.constantFrom('n1', 'n2', 'n3', 'n4'), { maxLength: 4, minLength: 1 })
    .chain((names) => fc.tuple(...names.map((name) => tie('map').map((map): Json => ({ name, ...map }))))),
  plain: fc.array(scalar, { maxLength: 3 }),
}));
const spec = fc.dictionary(key, tree, { maxKeys: 5 });

function widget(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'shop.example.test/v1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'shop' },
    spec,
  };
}

interface Sides {
  handled?: JsonObject | undefined;
  live: JsonObject;
  git: JsonObject;
  mirror?: boolean;
}

function decide({ handled, live, git, mirror = false }: Sides): Intent {
  return intentOf(
    deepFreeze({
      live: widget(live),
      handled: handled === undefined ? undefined : widget(handled),
      document: widget(git),
      applierKnown: !mirror,
      schema,
      managers: { appliers: ['kustomize-controller'], ignore: [] },
      autoscaled: false,
    }),
  );
}

/** What Git holds after the decision. */
function written(sides: Sides): JsonObject {
  const intent = decide(sides);
  if (intent.kind === 'none') return sides.git;
  assert.ok(intent.kind === 'edit');
  assert.ok(isObject(intent.desired.spec));
  return intent.desired.spec;
}

/** Equal text for values that mean the same: lists of named items in the order of their names. */
function meaning(value: Json): string {
  return canonicalJson(sorted(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) {
    const items = value.map(sorted);
    const names = items.map((item) =>
      isObject(item) && typeof item.name === 'string' ? item.name : undefined,
    );
    if (names.includes(undefined) || new Set(names).size < names.length) return items;
    return items.sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]));
}

const sides = fc.record({
  handled: fc.option(spec, { nil: undefined }),
  live: spec,
  git: spec,
  mirror: fc.boolean(),
});
/** Sides that differ little, as real ones do. */
const near = fc
  .record({
    base: spec,
    live: spec,
    git: spec,
    keys: fc.subarray(['a', 'b', 'c.d', 'e/f', 'image', 'labels']),
  })
  .map(({ base, live, git, keys }) => {
    const pick = (other: JsonObject, wanted: boolean): JsonObject => {
      const kept = Object.entries(base).filter(([name]) => keys.includes(name) !== wanted);
      const taken = Object.entries(other).filter(([name]) => keys.includes(name) === wanted);
      return Object.fromEntries([...kept, ...taken]);
    };
    return { handled: base, live: pick(live, true), git: pick(git, false), keys };
  });

const runs = { numRuns: 400 };

describe('intent: what holds for all objects', () => {
  it('disjoint edits of both sides survive, and nothing else moves', () => {
    fc.assert(
      fc.property(near, ({ keys, ...three }) => {
        const result = written(three);
        for (const name of new Set([
          ...Object.keys(result),
          ...Object.keys(three.live),
          ...Object.keys(three.git),
        ])) {
          const from = keys.includes(name) ? three.live : three.git;
          assert.equal(meaning(result[name] ?? null), meaning(from[name] ?? null), name);
        }
      }),
      runs,
    );
  });

  it('what Git holds after an edit needs no further edit', () => {
    fc.assert(
      fc.property(sides, (three) => {
        assert.equal(decide({ ...three, git: written(three) }).kind, 'none');
      }),
      runs,
    );
  });

  it('once handled, nothing is an edit, whatever Git says', () => {
    fc.assert(
      fc.property(spec, spec, (live, git) => {
        assert.equal(decide({ handled: structuredClone(live), live, git }).kind, 'none');
      }),
      runs,
    );
  });

  it('without handled state Git comes to mean what live means', () => {
    fc.assert(
      fc.property(spec, spec, fc.boolean(), (live, git, mirror) => {
        assert.equal(meaning(written({ live, git, mirror })), meaning(live));
      }),
      runs,
    );
  });

  it('the document differs from the one before in exactly the fields that are named', () => {
    fc.assert(
      fc.property(sides, (three) => {
        const intent = decide(three);
        if (intent.kind !== 'edit') return;
        const before = widget(three.git);
        for (const { path, before: from, after: to } of intent.fields) {
          assert.ok(!equalJson(from, to), `${path.join('/')} is named and did not change`);
          if (to === undefined) assert.ok(equalJson(valueAt(before, path), from));
          else assert.ok(equalJson(valueAt(intent.desired, path), to));
        }
        assert.ok(equalJson(redo(before, intent), intent.desired));
      }),
      runs,
    );
  });

  it('keys and named items that stay keep their order', () => {
    fc.assert(
      fc.property(sides, (three) => assertOrder(three.git, written(three))),
      runs,
    );
  });

  it('what is overwritten is among the fields, and nothing is when Git did not move', () => {
    fc.assert(
      fc.property(spec, spec, spec, (handled, live, git) => {
        const moved = decide({ handled, live, git });
        if (moved.kind === 'edit')
          assert.ok(moved.overwritten.every((field) => moved.fields.includes(field)));
        const still = decide({ handled, live, git: structuredClone(handled) });
        if (still.kind === 'edit') assert.deepEqual(still.overwritten, []);
      }),
      runs,
    );
  });
});

/** Makes the named changes, removals first and from the end, so that positions fit. */
function redo(before: JsonObject, intent: Extract<Intent, { kind: 'edit' }>): Json {
  let document: Json = structuredClone(before);
  const gone = intent.fields.filter(({ after }) => after === undefined);
  for (const { path } of gone.toReversed()) document = change(document, path, undefined, false);
  for (const field of intent.fields) {
    if (field.after !== undefined)
      document = change(document, field.path, field.after, field.before === undefined);
  }
  return document;
}

function change(value: Json, path: readonly (string | number)[], to: Json | undefined, isNew: boolean): Json {
  const [step, ...rest] = path;
  if (step === undefined) return to ?? null;
  if (typeof step === 'number') {
    assert.ok(Array.isArray(value));
    if (rest.length > 0)
      return value.map((item, index) => (index === step ? change(item, rest, to, isNew) : item));
    if (to === undefined) return value.toSpliced(step, 1);
    return isNew ? value.toSpliced(step, 0, to) : value.with(step, to);
  }
  assert.ok(isObject(value));
  if (rest.length > 0) return { ...value, [step]: change(value[step] ?? {}, rest, to, isNew) };
  const { [step]: _old, ...others } = value;
  return to === undefined ? others : { ...value, [step]: to };
}

function assertOrder(before: Json, after: Json): void {
  if (isObject(before) && isObject(after)) {
    const kept = Object.keys(before).filter((name) => Object.hasOwn(after, name));
    assert.deepEqual(Object.keys(after).slice(0, kept.length), kept);
    for (const name of kept) assertOrder(before[name] ?? null, after[name] ?? null);
  } else if (Array.isArray(before) && Array.isArray(after)) {
    const names = (items: Json[]) => items.map((item) => (isObject(item) ? item.name : undefined));
    const [old, now] = [names(before), names(after)];
    if (old.includes(undefined) || now.includes(undefined)) return;
    const kept = old.filter((name) => now.includes(name));
    assert.deepEqual(now.slice(0, kept.length), kept);
  }
}
