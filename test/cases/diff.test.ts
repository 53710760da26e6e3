import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printDiff } from '../../src/cli/plan-diff.ts';

/** What git makes of the diff, for a file in a folder of its own. */
function appliedByGit(before: string, after: string): string {
  const root = mkdtempSync(join(tmpdir(), 'plan-diff-'));
  try {
    writeFileSync(join(root, 'x.yaml'), before);
    execFileSync('git', ['init', '-q', root]);
    const edit = {
      path: 'x.yaml',
      action: 'edit',
      mode: '100644',
      objects: [],
      fields: [],
      overwritten: [],
    } as const;
    const diff = printDiff(
      [{ ...edit, content: Buffer.from(after) }],
      new Map([['x.yaml', Buffer.from(before)]]),
    );
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: root, input: diff });
    return readFileSync(join(root, 'x.yaml'), 'utf8');
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

describe('a printed diff', () => {
  const many = (prefix: string) => Array.from({ length: 9000 }, (_, line) => `${prefix}${line}`).join('\n');
  const pairs: [string, string, string][] = [
    ['a final newline that comes', 'a: 1', 'a: 1\n'],
    ['a final newline that goes', 'a: 1\n', 'a: 1'],
    ['line ends that are mixed', 'a: 1\r\nb: 2\n', 'a: 1\r\nb: 3\n'],
    ['a byte order mark and its line', '\uFEFFa: 1\n', '\uFEFFa: 2\n'],
    ['a file that becomes another one', many('old'), `${many('new')}\n`],
  ];
  for (const [what, before, after] of pairs) {
    it(`holds ${what}`, () => assert.equal(appliedByGit(before, after), after));
  }
});
