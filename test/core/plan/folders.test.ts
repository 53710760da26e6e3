/** Golden folders: `before/` and live objects in, `after/` and the refusals out. Without `after/` nothing may change. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readLocalTree } from '../../../src/cli/local-tree.ts';
import type { Tree, TreeEntry } from '../../../src/core/folder/index.ts';
import { describeObject, identify, objectKey, parseObject } from '../../../src/core/identity.ts';
import { isObject, type JsonObject } from '../../../src/core/json.ts';
import {
  builtinResource,
  type Change,
  type Plan,
  type PlanOptions,
  plan,
} from '../../../src/core/plan/index.ts';
import { sanitize } from '../../../src/core/sanitize/index.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';

const testdata = join(import.meta.dirname, 'testdata');

interface Golden {
  readonly title: string;
  readonly folder: string;
  readonly options?: Partial<PlanOptions>;
  readonly sweep?: { group: string; of: string; namespace?: string; present: string[] };
  readonly refused?: readonly string[];
  readonly skipped?: readonly string[];
  readonly outcomes?: Readonly<Record<string, string>>;
}

function optionsOf(golden: Golden): PlanOptions {
  return {
    folder: golden.folder,
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: ({ group, kind }) => group === '' && kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
    ...golden.options,
  };
}

function objectsIn(path: string): JsonObject[] {
  if (!existsSync(path)) return [];
  return readDocuments(readFileSync(path, 'utf8')).flatMap((document) =>
    document.kind === 'value' && isObject(document.value) ? [document.value] : [],
  );
}

function keyed(objects: readonly JsonObject[]): Map<string, JsonObject> {
  return new Map(
    objects.map((object) => {
      const id = identify(object);
      assert.ok(id, 'every object of a golden folder has an identity');
      return [objectKey(id), object];
    }),
  );
}

function changesOf(path: string, golden: Golden): Change[] {
  const live = keyed(objectsIn(join(path, 'live.yaml')));
  const previous = keyed(objectsIn(join(path, 'previous.yaml')));
  const upserts = [...live].map(([key, object]): Change => {
    const handled = previous.get(key);
    return {
      kind: 'upsert',
      live: object,
      applierKnown: true,
      ...(handled === undefined ? {} : { handled: sanitize(handled) }),
    };
  });
  const deletes = [...previous].flatMap(([key, object]): Change[] => {
    const id = identify(object);
    if (live.has(key) || id === undefined) return [];
    return [{ kind: 'delete', id, handled: sanitize(object), reason: 'absent' }];
  });
  if (golden.sweep === undefined) return [...upserts, ...deletes];
  const { present, ...collection } = golden.sweep;
  const keys = present.flatMap((text) => {
    const id = parseObject(text);
    return id === undefined ? [] : [objectKey(id)];
  });
  return [...upserts, ...deletes, { kind: 'sweep', ...collection, present: new Set(keys) }];
}

/** The tree with the planned files in it. */
function after(tree: Tree, planned: Plan): Tree {
  const fresh = new Map(planned.edits.map((edit) => [edit.path, edit]));
  const kept = tree.entries().filter(({ path }) => !fresh.has(path));
  const written = planned.edits.flatMap(({ path, content, mode }): TreeEntry[] =>
    content === undefined
      ? []
      : [{ path, mode, id: Buffer.from(content).toString('hex'), size: content.length }],
  );
  return {
    entries: () => [...kept, ...written],
    read: async (path) => fresh.get(path)?.content ?? (await tree.read(path)),
  };
}

async function bytesOf(tree: Tree, root: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const { path, mode } of tree.entries()) {
    const link = mode === '120000' ? `link to ${await readlink(join(root, path))}` : undefined;
    files[path] = link ?? Buffer.from(await tree.read(path)).toString('latin1');
  }
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('a plan of a golden folder', () => {
  const names = readdirSync(testdata, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.ok(names.length > 12);
  for (const { name } of names) {
    const path = join(testdata, name);
    const golden: Golden = JSON.parse(readFileSync(join(path, 'case.json'), 'utf8'));
    it(`${name}: ${golden.title}`, async () => {
      const root = join(path, 'before');
      const tree = await readLocalTree(root);
      const changes = changesOf(path, golden);
      const planned = await plan(tree, changes, optionsOf(golden));

      const expectedRoot = existsSync(join(path, 'after')) ? join(path, 'after') : root;
      const expected = await bytesOf(await readLocalTree(expectedRoot), expectedRoot);
      const result = after(tree, planned);
      assert.deepEqual(await bytesOf(result, root), expected);

      const refused = planned.refused.map(
        ({ reason, object, path: where }) => `${reason} ${object && describeObject(object)} ${where ?? '-'}`,
      );
      assert.deepEqual(refused.toSorted(), (golden.refused ?? []).toSorted());
      for (const one of golden.skipped ?? []) {
        assert.equal(planned.skipped.filter(({ path: skipped }) => skipped === one).length, 1, one);
      }
      const outcomes = Object.fromEntries(
        planned.outcomes.map(({ object, outcome }) => [describeObject(object), outcome]),
      );
      for (const [object, outcome] of Object.entries(golden.outcomes ?? {})) {
        assert.equal(outcomes[object], outcome, object);
      }
      assert.equal(
        new Set(planned.outcomes.map(({ object }) => objectKey(object))).size,
        planned.outcomes.length,
      );

      const reversed = await plan(tree, changes.toReversed(), optionsOf(golden));
      assert.deepEqual(reversed.edits, planned.edits, 'the order of changes does not matter');
      const again = await plan(result, changes, optionsOf(golden));
      assert.deepEqual(again.edits, [], 'a second plan plans nothing');
    });
  }

  it('gives the same bytes whatever file system the tree comes from', async () => {
    const root = join(testdata, 'multi-document-edit/before');
    const bytes = await readFile(join(root, 'apps/shop/all.yaml'));
    const tree = await readLocalTree(root);
    assert.deepEqual(Buffer.from(await tree.read('apps/shop/all.yaml')), bytes);
  });
});
