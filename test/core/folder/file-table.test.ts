import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FileTable } from '../../../src/core/folder/file-table.ts';
import { type IndexedDocument, type IndexedFile, indexFile } from '../../../src/core/folder/indexed-file.ts';
import { FactsPool, packFile, unpackFile } from '../../../src/core/folder/packed-file.ts';
import { parseFile } from '../../../src/core/folder/parsed-file.ts';
import type { TreeEntry } from '../../../src/core/folder/tree.ts';

const paths = [
  ...['shop/a.yaml', 'shop/b/a.yaml', 'shop/b/web.v1.yaml', 'shop/c', 'shop/d.e/noending', 'shop/.yaml'],
  ...Array.from({ length: 20 }, (_unused, at) => `shop/many/${at}.yml`),
];
const name = fc.constantFrom('a', 'web.v1', 'web', 'noending', '', '7', '.yaml', 'c', 'costarring', 'liquid');
const record = fc.record({
  name,
  namespace: fc.constantFrom('', 'shop', 'other'),
  type: fc.constantFrom('v1 ConfigMap', 'apps/v1 Deployment', 'apps/v1beta1 Deployment'),
  sops: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const document = fc.oneof(
  {
    weight: 8,
    arbitrary: record.map(({ name: own, namespace, type, sops }) => {
      const [apiVersion = '', kind = ''] = type.split(' ');
      const metadata = { name: own, ...(namespace === '' ? {} : { namespace }) };
      return JSON.stringify({ apiVersion, kind, metadata, ...(sops ? { sops: {} } : {}) });
    }),
  },
  fc.constantFrom(
    '# nothing',
    'not: {yaml',
    'kind: Values',
    '{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ x }}"}}',
    '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: &x 1, y: *x}}',
    '{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: a}, spec: {scaleTargetRef: {name: web}}}',
  ),
);
const text = fc
  .oneof(
    { weight: 6, arbitrary: document },
    fc.array(document, { maxLength: 3 }).map((some) => some.join('\n---\n')),
  )
  .map((some) => `${some}\n`);

function entryOf(path: string, content: string): TreeEntry {
  return { path, mode: '100644', id: `blob of ${content}`, size: content.length };
}

function fileOf(path: string, content: string): IndexedFile {
  return indexFile(entryOf(path, content), parseFile(Buffer.from(content)));
}

/** Path -> content; no content: an entry that is not read. */
const folders = fc
  .dictionary(fc.constantFrom(...paths), fc.option(text, { nil: undefined, freq: 8 }))
  .map((folder) => new Map(Object.entries(folder).sort(([a], [b]) => (a < b ? -1 : 1))));

type Folder = ReadonlyMap<string, string | undefined>;

const listingOf = (folder: Folder) => [...folder].map(([path, content = '']) => entryOf(path, content));

function filesOf(folder: Folder): Map<string, IndexedFile> {
  return new Map(
    [...folder].flatMap(([path, content]) => (content === undefined ? [] : [[path, fileOf(path, content)]])),
  );
}

function tableOf(folder: Folder): FileTable {
  const pool = new FactsPool();
  const files = filesOf(folder);
  const rows = [...folder.keys()].map((path) => {
    const file = files.get(path);
    return file && packFile(file, pool);
  });
  return new FileTable({ listing: listingOf(folder), rows, pool });
}

function documentsOf(files: ReadonlyMap<string, IndexedFile>): Map<string, IndexedDocument[]> {
  const all = [...files.values()].flatMap(({ documents }) => documents);
  return Map.groupBy(all, ({ id }) => id.name);
}

function assertHolds(table: FileTable, folder: Folder): void {
  const files = filesOf(folder);
  assert.deepEqual([...table], [...files]);
  assert.deepEqual([...table.keys()], [...files.keys()]);
  assert.deepEqual([...table.values()], [...files.values()]);
  assert.equal(table.size, files.size);
  for (const path of [...paths, 'absent', '']) {
    assert.deepEqual(table.get(path), files.get(path));
    assert.equal(table.has(path), files.has(path));
  }
  const documents = documentsOf(files);
  assert.deepEqual([...table.documents], [...documents]);
  assert.equal(table.documents.size, documents.size);
  assert.equal(table.documents.count, [...documents.values()].flat().length);
  for (const one of [...documents.keys(), 'absent', 'many']) {
    assert.deepEqual(table.documents.get(one), documents.get(one));
    assert.equal(table.documents.has(one), documents.has(one));
    const inShop = (documents.get(one) ?? []).filter(({ id }) => id.namespace === 'shop');
    assert.deepEqual(
      table.documents.named(one, ({ namespace }) => namespace === 'shop'),
      inShop,
    );
  }
}

describe('a packed file', () => {
  it('is unpacked as it was, and at another place as if it had been read there', () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), text, (path, content) => {
        const file = fileOf(path, content);
        const packed = packFile(file, new FactsPool());
        assert.deepEqual(unpackFile(packed, file.entry), file);
      }),
      { numRuns: 500 },
    );
  });

  it('that is one plain record named like its file keeps nothing of its own', () => {
    const pool = new FactsPool();
    const plain = (own: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${own}, namespace: shop}\n`;
    const [one, two] = ['one', 'two'].map((own) => packFile(fileOf(`shop/${own}.yaml`, plain(own)), pool));
    assert.equal(one, two);
    assert.notEqual(packFile(fileOf('shop/three.yaml', plain('one')), pool), one);
  });

  it('stays right when there is more to share than is shared', () => {
    const pool = new FactsPool();
    const files = Array.from({ length: 2_500 }, (_unused, at) =>
      fileOf(
        `shop/${at}.yaml`,
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: n${at}}}\n`,
      ),
    );
    const packed = files.map((file) => packFile(file, pool));
    for (const [at, file] of files.entries())
      assert.deepEqual(packed[at] && unpackFile(packed[at], file.entry), file);
  });
});

describe('a table of files', () => {
  it('holds what a map of the files would hold, and their records by name', () => {
    fc.assert(
      fc.property(folders, (folder) => assertHolds(tableOf(folder), folder)),
      { numRuns: 300 },
    );
  });

  it('made from an earlier one is the one made anew, and the earlier one stays as it was', () => {
    fc.assert(
      fc.property(folders, fc.array(folders, { minLength: 1, maxLength: 3 }), (first, changes) => {
        let [folder, table]: [Folder, FileTable] = [first, tableOf(first)];
        for (const change of changes) {
          // What is not read stays unread: that is a matter of names, and tables are told of files alone.
          const known = [...folder].filter(([path, content]) => content === undefined || !change.has(path));
          const files = [...change].filter(
            ([path, content]) =>
              content !== undefined && !(folder.has(path) && folder.get(path) === undefined),
          );
          const next = new Map([...known, ...files].sort(([a], [b]) => (a < b ? -1 : 1)));
          const updated = table.updated(
            listingOf(next),
            files.map(([path, content = '']) => fileOf(path, content)),
          );
          assertHolds(updated, next);
          assertHolds(table, folder);
          [folder, table] = [next, updated];
        }
      }),
      { numRuns: 300 },
    );
  });

  it('loses the files that are gone', () => {
    const folder = new Map([
      ['shop/a.yaml', '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n'],
      ['shop/b.yaml', '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n'],
      ['shop/c.yaml', '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n'],
    ]);
    const rest = new Map([...folder].slice(1));
    const table = tableOf(folder).updated(listingOf(rest), []);
    assertHolds(table, rest);
  });

  it('knows a file by its path and its content together', () => {
    const folder = new Map([['shop/a.yaml', '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n']]);
    const table = tableOf(folder);
    const [entry] = listingOf(folder);
    assert.ok(entry);
    assert.deepEqual(table.getSame(entry), table.get(entry.path));
    assert.equal(table.getSame({ ...entry, id: 'other' }), undefined);
    assert.equal(table.getSame({ ...entry, path: 'shop/b.yaml' }), undefined);
  });
});
