import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

describe('the table of failures', () => {
  const table = readFileSync(join(root, 'docs/design/failures.md'), 'utf8');
  const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));
  const files = globSync('test/**/*.ts', { cwd: root });
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));

  it('leads to files that exist', () => {
    const named = rows.flatMap((row) => [...row.matchAll(/`([\w/-]+\.test\.ts|bench\/[\w/-]+\.ts)`/g)]);
    assert.ok(named.length > 50);
    for (const [, name = ''] of named) {
      assert.ok(
        files.some((file) => file.endsWith(`/${name}`)),
        name,
      );
    }
  });

  it('quotes the names of tests as they are, whole or up to three dots', () => {
    const quoted = rows.flatMap((row) => [...(row.split(' | ').at(-1) ?? '').matchAll(/"([^"]{16,})"/g)]);
    assert.ok(quoted.length > 50);
    for (const [, text = ''] of quoted) {
      const part = text.replace(/^…|…$/g, '');
      assert.ok(
        texts.some((one) => one.includes(part)),
        text,
      );
    }
  });
});
