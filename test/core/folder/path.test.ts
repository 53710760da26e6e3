import assert from 'node:assert/strict';
import fc from 'fast-check';
import { batchScope, checkPath, type PathScope, pathScope } from '../../../src/core/folder/path.ts';
import type { FileMode } from '../../../src/core/folder/tree.ts';

function scopeOf(files: Record<string, FileMode>, folder = 'apps/shop'): PathScope {
  const entries = Object.entries(files).map(([path, mode]) => ({ path, mode, id: path, size: 1 }));
  return pathScope(entries, folder);
}

const scope = scopeOf({
  'apps/shop/web.yaml': '100644',
  'apps/shop/Team/api.yaml': '100755',
  'apps/shop/link': '120000',
  'apps/shop/module': '160000',
  'apps/other/x.yaml': '100644',
});

describe('a path to write', () => {
  it('is accepted when it is clean and inside the folder', () => {
    for (const path of [
      'apps/shop/new.yaml',
      'apps/shop/Team/b.yaml',
      'apps/shop/web.yaml',
      'apps/shop/a:b/é.yaml',
    ]) {
      assert.deepEqual(checkPath(path, scope), { ok: true, path });
    }
  });

  const refused: [string, string][] = [
    ['', 'InvalidPath'],
    ['/apps/shop/x.yaml', 'InvalidPath'],
    ['apps/shop/../other/x.yaml', 'InvalidPath'],
    ['apps/shop/./x.yaml', 'InvalidPath'],
    ['apps/shop//x.yaml', 'InvalidPath'],
    ['apps/shop/x.yaml/', 'InvalidPath'],
    ['apps/shop/a\\b.yaml', 'InvalidPath'],
    ['apps/shop/a\nb.yaml', 'InvalidPath'],
    ['apps/shop/a\u0085b.yaml', 'InvalidPath'],
    ['apps/shop/a\ud800.yaml', 'InvalidPath'],
    ['apps/shop/.git/config', 'InvalidPath'],
    ['apps/shop/.GIT/x.yaml', 'InvalidPath'],
    ['apps/shop/.git. ./x.yaml', 'InvalidPath'],
    ['apps/shop/.g\u200cit/x.yaml', 'InvalidPath'],
    ['apps/shop/GIT~1/x.yaml', 'InvalidPath'],
    ['apps/shop/.git::$INDEX_ALLOCATION/x.yaml', 'InvalidPath'],
    [`apps/shop/${'x'.repeat(256)}.yaml`, 'InvalidPath'],
    ['apps/shop/web.yaml/x.yaml', 'InvalidPath'],
    ['apps/shop/Team', 'InvalidPath'],
    ['apps/other/y.yaml', 'WriteEscapesScope'],
    ['apps/shopping/y.yaml', 'WriteEscapesScope'],
    ['apps/shop/link/x.yaml', 'WriteEscapesScope'],
    ['apps/shop/link', 'WriteEscapesScope'],
    ['apps/shop/module/x.yaml', 'WriteEscapesScope'],
    ['apps/shop/Web.yaml', 'CaseOnlyTwin'],
    ['apps/shop/team/b.yaml', 'CaseOnlyTwin'],
  ];
  for (const [path, reason] of refused) {
    it(`is refused as ${reason}: ${JSON.stringify(path.slice(0, 40))}`, () => {
      const check = checkPath(path, scope);
      assert.equal(check.ok ? 'accepted' : check.reason, reason);
    });
  }

  it('is refused when another new path of the batch is its twin', () => {
    const planned = batchScope(scope);
    assert.ok(planned.claim('apps/shop/New/a.yaml').ok);
    assert.ok(planned.claim('apps/shop/New/b.yaml').ok);
    assert.equal(planned.claim('apps/shop/New/a.yaml/c.yaml').ok, false);
    const check = planned.claim('apps/shop/new/b.yaml');
    assert.equal(check.ok ? 'accepted' : check.reason, 'CaseOnlyTwin');
  });

  it('may lie anywhere when the folder is the repository root', () => {
    assert.ok(checkPath('x.yaml', scopeOf({}, '')).ok);
  });

  it('never leaves the folder, whatever its segments are', () => {
    const segment = fc.oneof(
      fc.constantFrom('..', '.', '', 'link', 'Team', '.git', 'a'),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
        const check = checkPath(`apps/shop/${segments.join('/')}`, scope);
        if (!check.ok) return;
        const resolved = new URL(check.path.split('/').map(encodeURIComponent).join('/'), 'file:///')
          .pathname;
        assert.ok(resolved.startsWith('/apps/shop/'));
        assert.ok(!/(^|\/)\.git(\/|$)/i.test(check.path));
        assert.ok(!check.path.startsWith('apps/shop/link'));
      }),
    );
  });
});
