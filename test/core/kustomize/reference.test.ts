/** The reference page says what the table of features says. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { featureRules } from '../../../src/core/kustomize/index.ts';

describe('docs/reference/kustomize.md', () => {
  it('lists every feature with its verdict and reason', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/reference/kustomize.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([^`]+)` \| (editable|read-only|refused) \| (.+) \|$/gm)];
    const listed = new Map(
      rows.map(([, feature = '', verdict, reason]) => [feature, `${verdict}: ${reason}`]),
    );
    for (const [feature, { verdict, reason }] of Object.entries(featureRules))
      assert.equal(listed.get(feature), `${verdict}: ${reason}`, feature);
    assert.equal(listed.size, Object.keys(featureRules).length);
  });
});
