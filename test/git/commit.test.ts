import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FileChange } from '../../src/git/import-stream.ts';
import { type Repository, repositoryFolder } from '../../src/git/repository.ts';
import { git } from '../cluster/git.ts';
import { anonymous, commitOne, expectKind, openFor, person, spec } from './remote-fixture.ts';

const nowhere = anonymous('https://git.example.com/fleet');

describe('commits without a work tree', () => {
  let repository: Repository;
  let bare: string;
  beforeEach(async () => {
    const fixture = await openFor(nowhere);
    repository = fixture.repository;
    bare = join(repositoryFolder(fixture.volume.path, nowhere.url), 'git');
  });

  async function contents(commit: string): Promise<Map<string, string>> {
    const files = new Map<string, string>();
    for (const { path, id } of await repository.reader.readTree(commit)) {
      files.set(path, (await repository.reader.readBlob(id))?.toString('latin1') ?? 'missing');
    }
    return files;
  }

  it('stores every byte as it is', async () => {
    const files: Readonly<Record<string, string>> = {
      'crlf.yaml': 'a: 1\r\nb: 2\r\n',
      'no-line-end.yaml': 'a: 1',
      'bom.yaml': '\u00ef\u00bb\u00bfa: 1\n',
      'binary.bin': Array.from({ length: 256 }, (_unused, byte) => String.fromCharCode(byte)).join(''),
      'empty.yaml': '',
      'like-a-command.yaml': 'done\nfeature x\ndata 3\n',
    };
    const changes = Object.entries(files).map(([path, content]) => ({
      path,
      content: Buffer.from(content, 'latin1'),
    }));
    const commit = await commitOne(repository, 'main', null, changes);
    assert.deepEqual(
      Object.fromEntries(await contents(commit)),
      Object.fromEntries(Object.entries(files).sort()),
    );
  });

  it('writes any content and any clean path that a property test can think of', async () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter(
        (text) =>
          /^[^\p{C}\p{Z}/\\]+$/u.test(text) &&
          !text.startsWith('.') &&
          !/^git~/i.test(text) &&
          text.isWellFormed(),
      );
    const file = fc.tuple(segment, segment, fc.uint8Array({ maxLength: 64 }));
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 8 }), async (made) => {
        const wanted = new Map(
          made.map(([folder, name, content]) => [
            `d-${folder}/f ${name}`,
            Buffer.from(content).toString('latin1'),
          ]),
        );
        const changes = [...wanted].map(([path, content]) => ({
          path,
          content: Buffer.from(content, 'latin1'),
        }));
        assert.deepEqual(
          new Map([...(await contents(await commitOne(repository, 'main', null, changes)))].sort()),
          new Map([...wanted].sort()),
        );
      }),
      { numRuns: 15 },
    );
  });

  it('removes, replaces, keeps modes, and reuses content that is there', async () => {
    const first = await commitOne(repository, 'main', null, [
      { path: 'keep.yaml', content: 'k\n' },
      { path: 'gone.yaml', content: 'g\n' },
      { path: 'run.yaml', content: '#!\n', mode: '100755' },
      { path: 'was-file', content: 'x\n' },
    ]);
    const tree = await repository.reader.readTree(first);
    const keep = tree.find((entry) => entry.path === 'keep.yaml')?.id ?? '';
    const second = await commitOne(repository, 'main', first, [
      { path: 'was-file/inside.yaml', content: 'y\n' },
      { path: 'was-file', content: null },
      { path: 'gone.yaml', content: null },
      { path: 'run.yaml', content: '#!2\n', mode: '100755' },
      { path: 'copy.yaml', blob: keep },
    ]);
    assert.deepEqual(
      (await repository.reader.readTree(second)).map(({ path, mode }) => `${mode} ${path}`),
      ['100644 copy.yaml', '100644 keep.yaml', '100755 run.yaml', '100644 was-file/inside.yaml'],
    );
  });

  it('puts 2,000 files into one commit', async () => {
    const files = Array.from({ length: 2_000 }, (_unused, n) => ({
      path: `apps/ns-${n % 40}/object ${n}.yaml`,
      content: `n: ${n}\n`,
    }));
    const commit = await commitOne(repository, 'main', null, files);
    assert.equal((await repository.reader.readTree(commit)).length, 2_000);
    assert.equal((await repository.reader.readTree(commit, 'apps/ns-7')).length, 50);
  });

  it('takes contents before their commits are decided, and makes the same commit as without', async () => {
    const files = Array.from({ length: 300 }, (_unused, n) => ({
      path: `apps/object-${n}.yaml`,
      content: Buffer.from(`n: ${n}\n`.repeat(n)),
    }));
    const whole = await commitOne(repository, 'main', null, files);
    const draft = repository.draft();
    for (const { content } of files) if (content.length % 2 === 0) draft.store(content);
    draft.store(Buffer.from('what no commit takes\n'));
    const commits = [spec('Change', files), spec('Later', [{ path: 'late.yaml', content: 'late: true\n' }])];
    const made = expectKind(
      await repository.commit({ branch: 'main', base: null, commits, draft }),
      'ok',
    ).commits;
    assert.equal(made[0]?.commit, whole);
    assert.equal((await contents(made[1]?.commit ?? '')).get('late.yaml'), 'late: true\n');
    assert.equal((await contents(whole)).get('apps/object-299.yaml'), 'n: 299\n'.repeat(299));
  });

  it('leaves nothing half-written of a draft that is given up', async () => {
    const draft = repository.draft();
    for (let n = 0; n < 300; n++) draft.store(Buffer.from(`${n} `.repeat(1_000)));
    await draft.abandon();
    await draft.abandon();
    const left = await readdir(bare, { recursive: true });
    assert.deepEqual(
      left.filter((name) => /tmp_|crash|\.lock/.test(name)),
      [],
    );
    await commitOne(repository, 'main', null, [{ path: 'after.yaml', content: 'a: 1\n' }]);
  });

  it('throws on a path that must never reach git', async () => {
    const paths = [
      '../evil',
      'a/../b',
      '/etc/passwd',
      '.git/config',
      'a/.GIT/x',
      'a//b',
      'a/./b',
      '',
      'a\nb',
      'a/',
      'git~1/x',
      'a\ud800',
    ];
    for (const path of paths) {
      await assert.rejects(
        commitOne(repository, 'main', null, [{ path, content: '' }]),
        /must never reach git/,
        path,
      );
    }
    const twice: FileChange[] = [
      { path: 'a', content: '1' },
      { path: 'a', content: '2' },
    ];
    await assert.rejects(commitOne(repository, 'main', null, twice), /twice/);
  });

  it('keeps names and messages from breaking the header of a commit', async () => {
    const evil = { name: 'Eve\ncommitter x <y> 0 +0000', email: 'eve @example.com>\0\n', date: person.date };
    const message = 'Subject\n\nfrom 0000\0\n\nBody: ä\n\n\n';
    const result = await repository.commit({
      branch: 'main',
      base: null,
      commits: [{ ...spec('', []), author: evil, committer: { ...evil, name: ' <> ' }, message }],
    });
    const [made] = expectKind(result, 'ok').commits;
    const info = await repository.history.commitInfo(made?.commit ?? '');
    assert.deepEqual(info.author, {
      name: 'Eve committer x y 0 +0000',
      email: 'eve@example.com',
      date: person.date,
    });
    assert.equal(info.committer.name, 'unknown');
    assert.equal(info.message, 'Subject\n\nfrom 0000\n\nBody: ä');
    assert.equal((await git(['fsck', '--strict'], { cwd: bare })).trim(), '');
  });

  it('makes nothing of an empty request, and nothing on a base that is not there', async () => {
    assert.deepEqual(await repository.commit({ branch: 'main', base: null, commits: [] }), {
      kind: 'ok',
      commits: [],
    });
    const base = '1'.repeat(40);
    const result = await repository.commit({ branch: 'main', base, commits: [spec('x', [])] });
    assert.equal(expectKind(result, 'failed').reason, 'CorruptRepository', JSON.stringify(result));
    assert.deepEqual(
      (await readdir(bare)).filter((name) => name.startsWith('fast_import_crash')),
      [],
    );
  });

  it('gives the same commit id for the same content', async () => {
    const files = [{ path: 'a.yaml', content: '1\n' }];
    assert.equal(
      await commitOne(repository, 'main', null, files),
      await commitOne(repository, 'other', null, files),
    );
  });
});
