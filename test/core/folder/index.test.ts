import assert from 'node:assert/strict';
import {
  createIndexCache,
  type FileMode,
  type FolderIndex,
  findDocument,
  folderLayout,
  indexFolder,
  isAutoscaled,
  type Tree,
} from '../../../src/core/folder/index.ts';

function treeOf(
  files: Record<string, string>,
  modes: Record<string, FileMode> = {},
  reads: string[] = [],
): Tree {
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    mode: modes[path] ?? ('100644' as const),
    id: `blob of ${text}`,
    size: Buffer.byteLength(text),
  }));
  return {
    entries: () => entries,
    read: async (path) => {
      reads.push(path);
      return Buffer.from(files[path] ?? '');
    },
  };
}

async function indexed(
  files: Record<string, string>,
  modes?: Record<string, FileMode>,
): Promise<FolderIndex> {
  return await indexFolder(treeOf(files, modes), 'apps/shop', createIndexCache(1000));
}

const configMap = (name: string, rest = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${rest}`;
const id = (name: string, namespace = '') => ({ group: '', kind: 'ConfigMap', namespace, name });

describe('the index of a folder', () => {
  it('finds documents by identity, wherever they stand', async () => {
    const index = await indexed({
      'apps/shop/a.yaml': `${configMap('one')}---\n# only a comment\n---\n${configMap('two', '  namespace: shop\n')}`,
      'apps/other/b.yaml': configMap('elsewhere'),
    });
    const two = findDocument(index, id('two', 'shop'), true);
    assert.ok(two.kind === 'found');
    assert.equal(two.document.path, 'apps/shop/a.yaml');
    assert.equal(two.document.index, 2);
    assert.equal(findDocument(index, id('elsewhere'), true).kind, 'none');
    assert.equal(folderLayout(index).kind, 'plain');
  });

  it('takes a document without a namespace for an object of any, and a stated namespace exactly', async () => {
    const index = await indexed({
      'apps/shop/a.yaml': configMap('one'),
      'apps/shop/b.yaml': configMap('two', '  namespace: shop\n'),
    });
    assert.equal(findDocument(index, id('one', 'shop'), true).kind, 'found');
    assert.equal(findDocument(index, id('two', 'other'), true).kind, 'none');
    assert.equal(findDocument(index, id('two'), true).kind, 'none');
    assert.equal(findDocument(index, id('two'), false).kind, 'found');
  });

  it('says what it skips, once by path, and keeps the records of such a file', async () => {
    const index = await indexed({
      'apps/shop/Chart.yaml': 'apiVersion: v2\nname: x\n',
      'apps/shop/t.yaml': '{{- if .Values.x }}\na: b\n{{- end }}\n',
      'apps/shop/list.yaml': 'apiVersion: v1\nkind: List\nitems: []\n',
      'apps/shop/gen.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n',
      'apps/shop/half.yaml': `${configMap('one')}---\na: [\n---\nb: [\n`,
      'apps/shop/empty.yaml': '# nothing\n',
      'apps/shop/run.sh': 'echo',
    });
    assert.deepEqual(
      index.skipped.map(({ path }) => path),
      ['Chart.yaml', 'gen.yaml', 'half.yaml', 'list.yaml', 't.yaml'].map((name) => `apps/shop/${name}`),
    );
    assert.match(index.skipped.find(({ path }) => path.endsWith('list.yaml'))?.reason ?? '', /List/);
    assert.match(index.skipped.find(({ path }) => path.endsWith('gen.yaml'))?.reason ?? '', /generateName/);
    assert.equal(findDocument(index, id('one'), true).kind, 'found');
    assert.equal(folderLayout(index).kind, 'plain');
  });

  it('is closed by two documents of one identity, and names both', async () => {
    const index = await indexed({
      'apps/shop/a.yaml': configMap('one'),
      'apps/shop/b.yaml': configMap('one'),
    });
    const layout = folderLayout(index);
    assert.ok(layout.kind === 'closed');
    assert.equal(layout.refusals.length, 1);
    assert.match(layout.refusals[0]?.message ?? '', /apps\/shop\/a\.yaml.*apps\/shop\/b\.yaml/);
  });

  it('lets a document that cannot be edited claim no identity', async () => {
    const anchored = configMap('one', 'data: {a: !own b}\n');
    const index = await indexed({ 'apps/shop/a.yaml': anchored, 'apps/shop/b.yaml': configMap('one') });
    const found = findDocument(index, id('one'), true);
    assert.ok(found.kind === 'found');
    assert.equal(found.document.path, 'apps/shop/b.yaml');
    assert.equal(folderLayout(index).kind, 'plain');
    const alone = await indexed({ 'apps/shop/a.yaml': anchored });
    assert.equal(findDocument(alone, id('one'), true).kind, 'not-editable');
  });

  it('refuses the objects of a kustomize folder, and of one whose ignore file hides everything', async () => {
    const kustomize = await indexed({ 'apps/shop/sub/kustomization.yml': 'resources: []\n' });
    const layout = folderLayout(kustomize);
    assert.ok(layout.kind === 'refused');
    assert.equal(layout.reason, 'UnsupportedKustomize');
    const hidden = folderLayout(await indexed({ 'apps/shop/.gittargetignore': '*\n' }));
    assert.ok(hidden.kind === 'refused');
    assert.equal(hidden.reason, 'InvalidIgnorePattern');
  });

  it('knows encrypted documents by their sops key', async () => {
    const index = await indexed({ 'apps/shop/s.enc.yaml': `${configMap('one')}sops: {mac: x}\n` });
    const found = findDocument(index, id('one'), true);
    assert.ok(found.kind === 'found' && found.document.encrypted);
  });

  it('knows what an autoscaler of the folder scales', async () => {
    const index = await indexed({
      'apps/shop/hpa.yaml':
        'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x, namespace: shop}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n',
      'apps/shop/keda.yaml':
        'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: sized}\nspec: {scaleTargetRef: {name: api}}\n',
    });
    const deployment = (name: string, namespace: string) => ({
      group: 'apps',
      kind: 'Deployment',
      namespace,
      name,
    });
    assert.ok(isAutoscaled(index, deployment('web', 'shop')));
    assert.ok(!isAutoscaled(index, deployment('web', 'other')));
    assert.ok(isAutoscaled(index, deployment('api', 'anywhere')));
  });

  it('never reads symbolic links, ignored files, or a file of known content again', async () => {
    const reads: string[] = [];
    const files = {
      'apps/shop/.gittargetignore': 'drafts/\n',
      'apps/shop/a.yaml': configMap('one'),
      'apps/shop/copy.yaml': configMap('one'),
      'apps/shop/drafts/b.yaml': configMap('two'),
      'apps/shop/link.yaml': '../elsewhere',
    };
    const tree = treeOf(files, { 'apps/shop/link.yaml': '120000' }, reads);
    const cache = createIndexCache(1000);
    await indexFolder(tree, 'apps/shop', cache);
    assert.deepEqual(reads, ['apps/shop/.gittargetignore', 'apps/shop/a.yaml']);
    await indexFolder(tree, 'apps/shop', cache);
    assert.deepEqual(reads.slice(2), []);
  });
});

describe('the index cache', () => {
  const text = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
  const two = { 'apps/shop/a.yaml': text('one'), 'apps/shop/b.yaml': text('two') };

  it('knows files that moved, changed back, or lost a neighbour that mattered', async () => {
    const reads: string[] = [];
    const cache = createIndexCache(1000);
    const look = (files: Record<string, string>) => indexFolder(treeOf(files, {}, reads), 'apps/shop', cache);
    await look(two);
    await look({ 'apps/shop/c.yaml': text('two'), 'apps/shop/d.yaml': text('one') });
    await look({ ...two, 'apps/shop/kustomization.yaml': 'resources: [a.yaml]\n' });
    const index = await look(two);
    assert.deepEqual(reads, ['apps/shop/a.yaml', 'apps/shop/b.yaml']);
    assert.deepEqual([...index.documents.keys()], ['one', 'two']);
  });

  it('knows files of a folder that another folder holds, also when that one is forgotten', async () => {
    const reads: string[] = [];
    const cache = createIndexCache(1000);
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_unused, at) => [`apps/${at}/a.yaml`, text(`name-${at}`)]),
    );
    const tree = treeOf(files, {}, reads);
    await indexFolder(tree, '', cache);
    assert.equal(reads.length, 40);
    for (let at = 0; at < 40; at++) await indexFolder(tree, `apps/${at}`, cache);
    await indexFolder(tree, 'apps', cache);
    assert.equal(reads.length, 40);
  });

  it('keeps nothing by its id that an index knows, and of earlier contents no more than a thousand', async () => {
    const cache = createIndexCache(100_000);
    const many = (version: string) =>
      treeOf(
        Object.fromEntries(
          Array.from({ length: 1_500 }, (_unused, at) => [`apps/shop/${at}.yaml`, text(`${version}-${at}`)]),
        ),
      );
    const [first, second] = [many('first'), many('second')];
    const known = (tree: Tree) => tree.entries().filter(({ id }) => cache.get(id) !== undefined).length;
    await indexFolder(first, 'apps/shop', cache);
    assert.equal(known(first), 0);
    await indexFolder(second, 'apps/shop', cache);
    assert.equal(known(second), 0);
    assert.equal(known(first), 1_000);
  });

  it('holds as many documents as it may and drops the oldest first', () => {
    const cache = createIndexCache(3);
    const other = { kind: 'other' as const, reason: 'not a map' };
    const file = (count: number) => ({ ok: true as const, documents: Array(count).fill(other) });
    cache.set('a', file(2));
    cache.set('b', file(1));
    assert.ok(cache.get('a'));
    cache.set('c', file(1));
    assert.equal(cache.get('b'), undefined);
    assert.ok(cache.get('a') && cache.get('c'));
    cache.set('large', file(50));
    assert.ok(cache.get('large'), 'the newest stays whatever its size');
    assert.equal(cache.get('a'), undefined);
  });
});
