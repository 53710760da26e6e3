import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createIndexCache, parseFile, type Tree } from '../../../src/core/folder/index.ts';
import { objectKey } from '../../../src/core/identity.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  builtinResource,
  type Change,
  type Plan,
  type PlanOptions,
  plan,
} from '../../../src/core/plan/index.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const paths = ['app/one.yaml', 'app/two.yaml', 'app/deep/three.yml'];

/** One document as it stands in a file, and its value. */
interface Standing {
  readonly name: string;
  readonly level: string;
  readonly comment: string;
}

interface Situation {
  readonly files: Readonly<Record<string, readonly Standing[]>>;
  readonly eol: string;
  readonly finalNewline: boolean;
  /** What is live afterwards: a level, or gone. */
  readonly live: Readonly<Record<string, string | undefined>>;
  readonly placement: string;
}

const level = fc.constantFrom(
  'low',
  'high',
  'yes',
  '1_000',
  '- x',
  'a: b # c',
  'line\nline\n',
  ' lead',
  '0777',
  'é',
);

const situation: fc.Arbitrary<Situation> = fc
  .record({
    homes: fc.tuple(...names.map(() => fc.option(fc.nat(paths.length - 1), { nil: undefined }))),
    levels: fc.tuple(...names.map(() => level)),
    comments: fc.tuple(...names.map(() => fc.constantFrom('', '# about it\n', '\n# above\n\n'))),
    after: fc.tuple(...names.map(() => fc.option(level, { nil: undefined }))),
    kept: fc.tuple(...names.map(() => fc.boolean())),
    eol: fc.constantFrom('\n', '\r\n'),
    finalNewline: fc.boolean(),
    placement: fc.constantFrom('one.yaml', '{name}.yaml', 'new/all.yaml'),
  })
  .map(({ homes, levels, comments, after, kept, ...rest }) => {
    const files: Record<string, Standing[]> = {};
    const live: Record<string, string | undefined> = {};
    for (const [at, name] of names.entries()) {
      const home = homes[at];
      const standing = { name, level: levels[at] ?? '', comment: comments[at] ?? '' };
      if (home !== undefined) files[paths[home] ?? ''] = [...(files[paths[home] ?? ''] ?? []), standing];
      live[name] = kept[at] && home !== undefined ? levels[at] : after[at];
    }
    return { files, live, ...rest };
  });

function textOf({ name, level: value, comment }: Standing): string {
  return `${comment}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: n-${name}, namespace: shop} # ${name}\ndata:\n  level: ${JSON.stringify(value)}\n  other: x   # stays\n`;
}

function objectOf(name: string, value: string, other = true): JsonObject {
  const data: JsonObject = other ? { level: value, other: 'x' } : { level: value };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `n-${name}`, namespace: 'shop' }, data };
}

function filesOf({ files, eol, finalNewline }: Situation): Map<string, string> {
  return new Map(
    Object.entries(files).map(([path, documents]) => {
      const text = documents.map(textOf).join('---\n').replaceAll('\n', eol);
      return [path, finalNewline ? text : text.slice(0, -eol.length)];
    }),
  );
}

function changesOf({ files, live }: Situation): Change[] {
  const before = new Map(
    Object.values(files)
      .flat()
      .map((standing) => [standing.name, standing.level]),
  );
  return names.flatMap((name): Change[] => {
    const now = live[name];
    const then = before.get(name);
    const handled = then === undefined ? {} : { handled: objectOf(name, then) };
    if (now !== undefined) {
      return [{ kind: 'upsert', live: objectOf(name, now), applierKnown: true, ...handled }];
    }
    const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name: `n-${name}` };
    return then === undefined ? [] : [{ kind: 'delete', id, reason: 'observed', ...handled }];
  });
}

function treeOf(files: ReadonlyMap<string, string>): Tree {
  const entries = [...files].map(([path, text]) => ({
    path,
    mode: '100644' as const,
    id: text,
    size: Buffer.byteLength(text),
  }));
  return { entries: () => entries, read: async (path) => Buffer.from(files.get(path) ?? '') };
}

async function planOn(
  files: ReadonlyMap<string, string>,
  changes: readonly Change[],
  placement: string,
  pause?: () => Promise<void> | undefined,
): Promise<Plan> {
  return await plan(treeOf(files), changes, {
    folder: 'app',
    placement: { default: placement },
    prune: 'OnEvent',
    managers: { appliers: [], ignore: [] },
    isSensitive: () => false,
    resourceOf: builtinResource,
    bootstrap: false,
    ...(pause === undefined ? {} : { pause }),
  });
}

function levels(files: ReadonlyMap<string, string>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const text of files.values()) {
    for (const document of readDocuments(text)) {
      if (document.kind !== 'value') continue;
      const { metadata, data } = document.value as unknown as {
        metadata: { name: string };
        data: { level: unknown };
      };
      assert.ok(!(metadata.name in found), 'no object has two documents');
      found[metadata.name.slice(2)] = data.level;
    }
  }
  return found;
}

describe('a batch of edits, deletes and new objects', () => {
  it('reads the files of its objects together, each once, and waits for none of the others', async () => {
    const documents = names.map((name) => ({ name, level: 'low', comment: '' }));
    const files = new Map(documents.map((one) => [`app/${one.name}.yaml`, textOf(one)]));
    const tree = treeOf(files);
    const options: PlanOptions = {
      ...{ folder: 'app', placement: {}, prune: 'OnEvent', isSensitive: () => false, bootstrap: false },
      ...{
        managers: { appliers: [], ignore: [] },
        resourceOf: builtinResource,
        cache: createIndexCache(100),
      },
    };
    const changes = names.slice(1).map((name): Change => {
      return {
        kind: 'upsert',
        live: objectOf(name, 'high'),
        applierKnown: true,
        handled: objectOf(name, 'low'),
      };
    });
    await plan(tree, [], options);
    const asked: string[] = [];
    let [open, most] = [0, 0];
    const read = async (path: string) => {
      asked.push(path);
      open += 1;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open -= 1;
      return tree.read(path);
    };
    const result = await plan({ entries: tree.entries, read }, changes, options);
    assert.equal(result.edits.length, changes.length);
    assert.deepEqual(
      asked.sort(),
      names.slice(1).map((name) => `app/${name}.yaml`),
    );
    assert.equal(most, changes.length);
  });

  it('leaves Git saying exactly what is live, keeps every other byte, and then has nothing more to do', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async (given) => {
        const before = filesOf(given);
        const changes = changesOf(given);
        const result = await planOn(before, changes, given.placement);
        assert.deepEqual(result.refused, []);
        const after = new Map(before);
        for (const { path, content, parsed } of result.edits) {
          if (content === undefined) {
            after.delete(path);
            continue;
          }
          after.set(path, Buffer.from(content).toString());
          assert.deepEqual(parsed, parseFile(content));
        }
        const expected = Object.entries(given.live).filter(([, value]) => value !== undefined);
        assert.deepEqual(levels(after), Object.fromEntries(expected));

        const untouched = Object.values(given.files)
          .flat()
          .filter(({ name, level: value }) => given.live[name] === value);
        for (const standing of untouched) {
          const bytes = textOf(standing).replaceAll('\n', given.eol).trimEnd();
          assert.ok(
            [...after.values()].some((text) => text.includes(bytes)),
            `${standing.name} kept its bytes`,
          );
        }
        for (const text of after.values()) {
          if (given.eol === '\n') assert.ok(!text.includes('\r'));
        }
        const keys = result.outcomes.map(({ object }) => objectKey(object));
        assert.equal(new Set(keys).size, changes.length);
        assert.deepEqual((await planOn(after, changes, given.placement)).edits, []);
      }),
      { numRuns: 150 },
    );
  });

  it('lets others have a turn between objects and between files, and comes to the same plan', async () => {
    const [given] = fc.sample(
      situation.filter(({ live, files }) => Object.keys({ ...live, ...files }).length > 4),
      {
        numRuns: 1,
        seed: 7,
      },
    );
    assert.ok(given);
    const changes = changesOf(given);
    let asked = 0;
    const paused = await planOn(filesOf(given), changes, given.placement, () => {
      asked += 1;
      return asked % 2 === 0 ? Promise.resolve() : undefined;
    });
    assert.deepEqual(paused, await planOn(filesOf(given), changes, given.placement));
    assert.equal(asked, changes.length + paused.edits.length);
  });
});
