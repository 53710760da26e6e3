import assert from 'node:assert/strict';
import { ignoreNothing, readIgnoreFile } from '../../../src/core/folder/ignore.ts';
import { type Role, roleOf } from '../../../src/core/folder/role.ts';

describe('the role of a file', () => {
  const plain: [string, Role][] = [
    ['web.yaml', 'manifest'],
    ['deep/er/web.yml', 'manifest'],
    ['web.YAML', 'foreign'],
    ['kustomization.yaml', 'kustomization'],
    ['base/kustomization.yml', 'kustomization'],
    ['base/Kustomization', 'kustomization'],
    ['README.md', 'operator'],
    ['a/.sops.yaml', 'operator'],
    ['.gittargetignore', 'ignore-file'],
    ['deeper/.gittargetignore', 'foreign'],
    ['notes.md', 'passenger'],
    ['NOTES.MD', 'foreign'],
    ['LICENSE', 'passenger'],
    ['NOTICE.txt', 'passenger'],
    ['.gitkeep', 'passenger'],
    ['web.json', 'foreign'],
    ['run.sh', 'foreign'],
    ['Chart.lock', 'foreign'],
  ];
  for (const [path, role] of plain) {
    it(`${path} is ${role}`, () => assert.equal(roleOf(path, '100644', ignoreNothing), role));
  }

  it('of a symbolic link or a submodule is never anything else', () => {
    assert.equal(roleOf('kustomization.yaml', '120000', ignoreNothing), 'symlink');
    assert.equal(roleOf('web.yaml', '160000', ignoreNothing), 'submodule');
  });

  it('is ignored where a pattern says so, but build files cannot be hidden by name', () => {
    const rules = readIgnoreFile('drafts/\n*.example.yaml\nkustomization.yaml\n!keep.example.yaml\n');
    assert.equal(roleOf('web.example.yaml', '100644', rules), 'ignored');
    assert.equal(roleOf('keep.example.yaml', '100644', rules), 'manifest');
    assert.equal(roleOf('kustomization.yaml', '100644', rules), 'kustomization');
    assert.equal(roleOf('drafts/kustomization.yaml', '100644', rules), 'ignored');
    assert.equal(roleOf('drafts/link', '120000', rules), 'ignored');
    assert.equal(roleOf('Drafts/web.yaml', '100644', rules), 'manifest');
  });
});

describe('.gittargetignore', () => {
  for (const pattern of ['*', '**', '/', '*.yaml', '*.yml', '**/*', '**/*.yaml', '**/*.yml']) {
    it(`refuses the pattern ${pattern}, which would hide the whole folder`, () => {
      const rules = readIgnoreFile(`# all\r\n${pattern}\r\nfoo/\r\n`);
      assert.deepEqual(rules.refused, [pattern]);
      assert.equal(rules.patternFor('web.yaml'), undefined);
      assert.equal(rules.patternFor('foo/web.yaml'), 'foo/');
    });
  }

  it('names the last pattern that matches', () => {
    const rules = readIgnoreFile('a*.yaml\n!ab.yaml\nabc.yaml\n');
    assert.equal(rules.patternFor('abc.yaml'), 'abc.yaml');
    assert.equal(rules.patternFor('ab.yaml'), undefined);
    assert.equal(rules.patternFor('ax.yaml'), 'a*.yaml');
  });
});
