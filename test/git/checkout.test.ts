import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeCheckout, writeCheckout } from '../../src/git/checkout.ts';
import { gitFolder } from '../../src/git/store.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { git } from '../cluster/git.ts';
import { createBareRepository, type Files } from '../cluster/repository.ts';

describe('a checkout', () => {
  const folder = temporaryFolder('checkout');
  let made = 0;
  after(() => folder.remove());

  async function checkout(files: Files, limits = { maxFiles: 100, maxBytes: 1_000_000 }) {
    const repository = join(folder.path, `repository-${made++}`);
    mkdirSync(repository);
    await createBareRepository(gitFolder(repository), { files });
    const commit = (await git(['rev-parse', 'main'], { cwd: gitFolder(repository) })).trim();
    const into = join(folder.path, `tree-${made}`);
    const result = await writeCheckout({ repository, ambient: process.env, commit, into, ...limits });
    return { result, into, repository };
  }

  const ordinary: Files = {
    'a.txt': 'one\r\ntwo\n',
    'bin/run.sh': { mode: '100755', content: '#!/bin/sh\n' },
    'deep/er/b': Uint8Array.from([0, 255, 10]),
    'deep/link': { mode: '120000', content: '../a.txt' },
    'deep/folder': { mode: '120000', content: 'er' },
  };

  it('has the bytes, the modes and the inner links of the commit', async () => {
    const { result, into } = await checkout(ordinary);
    assert.equal(result.kind, 'ok');
    assert.equal(readFileSync(join(into, 'a.txt'), 'utf8'), 'one\r\ntwo\n');
    assert.equal(readFileSync(join(into, 'deep/link'), 'utf8'), 'one\r\ntwo\n');
    assert.deepEqual([...readFileSync(join(into, 'deep/folder/b'))], [0, 255, 10]);
    const mode = (path: string) => statSync(join(into, path)).mode & 0o777;
    assert.deepEqual(
      ['a.txt', 'bin/run.sh', 'deep', 'deep/er', '.'].map(mode),
      [0o444, 0o555, 0o555, 0o555, 0o555],
    );
    assert.deepEqual(readdirSync(into).sort(), ['a.txt', 'bin', 'deep'], 'nothing of Git is in it');
  });

  it('can be removed although nobody may write in it', async () => {
    const { into } = await checkout(ordinary);
    await removeCheckout(into);
    assert.equal(existsSync(into), false);
  });

  const unfit: readonly (readonly [string, Files, RegExp])[] = [
    ['a link to an absolute path', { l: { mode: '120000', content: '/etc/passwd' } }, /l leads out/],
    ['a link out of the repository', { 'a/l': { mode: '120000', content: '../../x' } }, /a\/l leads out/],
    ['a link to nothing', { l: { mode: '120000', content: 'later' } }, /l leads out/],
    [
      'a link that leads out through another',
      { 'a/b/up': { mode: '120000', content: '..' }, l: { mode: '120000', content: 'a/b/up/../../x' } },
      /l leads out/,
    ],
    ['a filter', { 'sub/.gitattributes': '*.bin filter=lfs diff=lfs\n', 'sub/x.bin': 'v' }, /names a filter/],
  ];
  for (const [what, files, message] of unfit) {
    it(`is not made with ${what}`, async () => {
      const { result, into } = await checkout({ ...files, other: 'x' });
      assert.equal(result.kind, 'unfit');
      assert.match(result.kind === 'unfit' ? result.message : '', message);
      assert.equal(existsSync(into), false);
      assert.equal(existsSync(`${into}.index`), false);
    });
  }

  it('is not made of more than it may hold', async () => {
    const many = await checkout({ a: '1', b: '2', c: '3' }, { maxFiles: 2, maxBytes: 100 });
    assert.equal(many.result.kind, 'unfit');
    const large = await checkout({ a: 'x'.repeat(101) }, { maxFiles: 2, maxBytes: 100 });
    assert.equal(large.result.kind, 'unfit');
  });

  it('leaves nothing of a commit that is not there', async () => {
    const { repository } = await checkout({ a: '1' });
    const into = join(folder.path, 'missing');
    const result = await writeCheckout({
      ...{ repository, ambient: process.env, commit: 'a'.repeat(40), into, maxFiles: 9, maxBytes: 9 },
    });
    assert.equal(result.kind, 'failed');
    assert.equal(existsSync(into), false);
  });
});
