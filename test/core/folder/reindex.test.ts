import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  createIndexCache,
  type FileMode,
  type FolderIndex,
  indexFolder,
  type Tree,
} from '../../../src/core/folder/index.ts';

type Files = Readonly<Record<string, { readonly text: string; readonly mode: FileMode }>>;

function treeOf(files: Files): Tree {
  const entries = Object.entries(files).map(([path, { text, mode }]) => ({
    path,
    mode,
    id: `blob of ${text}`,
    size: Buffer.byteLength(text),
  }));
  return { entries: () => entries, read: async (path) => Buffer.from(files[path]?.text ?? '') };
}

const configMap = (name: string, namespace: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\n`;

const documents = fc
  .array(fc.constantFrom(...['one', 'two', 'three'].map((name) => configMap(name, 'shop'))), {
    minLength: 1,
    maxLength: 2,
  })
  .map((some) => some.join('---\n'));
const unusual = fc.constantFrom(
  'not: {yaml',
  'kind: Values\n',
  configMap('x{{ .name }}', 'shop'),
  'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: x}\nspec: {scaleTargetRef: {name: web}}\n',
);
const file = fc.record({
  text: fc.oneof({ weight: 8, arbitrary: documents }, { weight: 1, arbitrary: unusual }),
  mode: fc.constantFrom<FileMode>('100644', '100644', '100644', '100755', '120000'),
});
const manifests = fc.dictionary(
  fc.constantFrom('shop/a.yaml', 'shop/b/c.yaml', 'shop/d.yml', 'shop/drafts/e.yaml', 'other/f.yaml'),
  file,
);
const others = fc.dictionary(
  fc.constantFrom('shop/README.md', 'shop/kustomization.yaml', 'shop/x.json'),
  file,
);
const ignore = fc.constantFrom<Files>(
  {},
  {},
  { 'shop/.gittargetignore': { text: 'drafts/\n', mode: '100644' } },
);
const trees = fc.array(
  fc
    .tuple(
      manifests,
      fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: others }),
      ignore,
    )
    .map((parts): Files => Object.assign({}, ...parts)),
  { minLength: 1, maxLength: 6 },
);

function comparable({ scope, ignore: rules, documents: named, ...rest }: FolderIndex): unknown {
  return {
    ...rest,
    named: new Map(named),
    files: [...rest.files],
    refused: rules.refused,
    paths: [...scope().files],
  };
}

describe('an index made from the one before', () => {
  it('is the index made anew, whatever changed between the trees', async () => {
    await fc.assert(
      fc.asyncProperty(trees, async (sequence) => {
        const cache = createIndexCache(1000);
        for (const files of sequence) {
          const tree = treeOf(files);
          const updated = await indexFolder(tree, 'shop', cache);
          const anew = await indexFolder(tree, 'shop', createIndexCache(1000));
          assert.deepEqual(comparable(updated), comparable(anew));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('does not change the one it was made from', async () => {
    const cache = createIndexCache(1000);
    const text = { text: configMap('one', 'shop'), mode: '100644' as const };
    const first = await indexFolder(treeOf({ 'shop/a.yaml': text }), 'shop', cache);
    const before = comparable(first);
    await indexFolder(
      treeOf({ 'shop/a.yaml': text, 'shop/b.yaml': { ...text, text: configMap('two', 'shop') } }),
      'shop',
      cache,
    );
    assert.deepEqual(comparable(first), before);
    assert.equal(first.documents.size, 1);
  });

  it('reads only what differs', async () => {
    const reads: string[] = [];
    const cache = createIndexCache(1000);
    const files = { 'shop/a.yaml': configMap('one', 'shop'), 'shop/b.yaml': configMap('two', 'shop') };
    const counted = (texts: Record<string, string>): Tree => {
      const tree = treeOf(
        Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, { text, mode: '100644' }])),
      );
      return {
        entries: tree.entries,
        read(path) {
          reads.push(path);
          return tree.read(path);
        },
      };
    };
    await indexFolder(counted(files), 'shop', cache);
    reads.length = 0;
    await indexFolder(counted({ ...files, 'shop/b.yaml': configMap('three', 'shop') }), 'shop', cache);
    assert.deepEqual(reads, ['shop/b.yaml']);
  });
});
