import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import { appendDocument, editDocument, readDocuments } from '../../../src/core/yaml/index.ts';
import { checkTriples, edit, type Triple } from './edited.ts';

const triples: Triple[] = [
  {
    it: 'keeps separators, comments and the other documents',
    index: 1,
    before: '--- # one\na: 1\n...\n# between\n---   # two\nb: 1 # x\n---\nc:   1\n',
    change: (v) => {
      v.b = 2;
      v.z = 1;
    },
    after: '--- # one\na: 1\n...\n# between\n---   # two\nb: 2 # x\nz: 1\n---\nc:   1\n',
  },
  {
    it: 'keeps a version directive',
    before: '%YAML 1.1\n---\na: 1\n',
    change: (v) => {
      v.a = 2;
    },
    after: '%YAML 1.1\n---\na: 2\n',
  },
  {
    it: 'appends before a document end',
    before: 'a: 1\n...\n',
    change: (v) => {
      v.b = 2;
    },
    after: 'a: 1\nb: 2\n...\n',
  },
  {
    it: 'appends before the comments and blank lines at the end',
    before: 'a: 1\n\n# the end\n',
    change: (v) => {
      v.b = 2;
    },
    after: 'a: 1\nb: 2\n\n# the end\n',
  },
  {
    it: 'keeps a byte order mark',
    before: '\uFEFFa: 1\nb: 2\n',
    change: (v) => {
      v.a = 3;
      delete v.b;
    },
    after: '\uFEFFa: 3\n',
  },
  {
    it: 'edits a value on the line of its separator',
    before: '--- {a: 1}\n',
    change: (v) => {
      v.a = 2;
    },
    after: '--- {a: 2}\n',
  },
];

describe('the file around an edit', () => {
  checkTriples(triples);

  it('may mix line ends; new lines take the more frequent one', () => {
    const result = edit('a: 1\r\nb: 2\nc: 3\r\n', (v) => {
      v.b = 5;
      v.d = 4;
    });
    assert.deepEqual(result, { ok: true, text: 'a: 1\r\nb: 5\nc: 3\r\nd: 4\r\n', changed: true });
  });

  it('takes the list style from the other documents when its own shows none', () => {
    const result = edit(
      'a:\n- x\n---\nb: 1\n',
      (value) => {
        value.c = ['d'];
      },
      undefined,
      1,
    );
    assert.deepEqual(result, { ok: true, text: 'a:\n- x\n---\nb: 1\nc:\n- d\n', changed: true });
  });

  it('gets a value into an empty document, after its comments', () => {
    const result = editDocument('a: 1\n---\n# todo\n', 1, { b: 1 }, { listKeys: () => undefined });
    assert.deepEqual(result, { ok: true, text: 'a: 1\n---\n# todo\nb: 1\n', changed: true });
  });

  it('replaces a document that is no map', () => {
    const result = editDocument('- a\n- b\n', 0, { kind: 'X' }, { listKeys: () => undefined });
    assert.deepEqual(result, { ok: true, text: 'kind: X\n', changed: true });
  });

  it('fills a document that is an empty map', () => {
    const result = editDocument('---\n{}\n', 0, { b: { c: 1 } }, { listKeys: () => undefined });
    assert.deepEqual(result, { ok: true, text: '---\nb:\n  c: 1\n', changed: true });
  });

  it('refuses rather than print a whole map anew', () => {
    const text = '? a\n? b\n';
    const result = editDocument(text, 0, { a: 1, b: null }, { listKeys: () => undefined });
    assert.equal(!result.ok && result.reason, 'UnplaceableEdit');
  });

  it('refuses a value nested too deeply', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 20_000; depth += 1) deep = { a: deep };
    for (const result of [
      editDocument('a: 1\n', 0, deep, { listKeys: () => undefined }),
      appendDocument('', deep),
    ])
      assert.equal(!result.ok && result.reason, 'UnplaceableEdit');
  });

  it('has no such document', () => {
    const result = editDocument('a: 1\n', 1, { b: 1 }, { listKeys: () => undefined });
    assert.equal(!result.ok && result.reason, 'NotEditable');
  });

  it('refuses a document that cannot be read, and edits its neighbour', () => {
    const text = 'a: [\n---\nb: 1\n';
    const broken = editDocument(text, 0, { a: 1 }, { listKeys: () => undefined });
    assert.ok(!broken.ok && broken.reason === 'NotEditable' && /cannot be read/.test(broken.message));
    const other = edit(
      text,
      (value) => {
        value.b = 2;
      },
      undefined,
      1,
    );
    assert.deepEqual(other, { ok: true, text: 'a: [\n---\nb: 2\n', changed: true });
  });

  it('asks for the keys of a list by its path, never by a joined one', () => {
    const asked: string[] = [];
    const text = 'a.b:\n  - name: x\n    c: [1, 2]\n';
    edit(
      text,
      (v) => {
        v['a.b'][0].c.push(3);
      },
      (path) => {
        asked.push(JSON.stringify(path));
        return undefined;
      },
    );
    assert.deepEqual([...new Set(asked)], ['["a.b"]', '["a.b",0,"c"]']);
  });

  it('edits a file only our reader and Go can read, as finely as any other', () => {
    const text = 'a: [\n  x,\n  y1\n]\nb:\n  c: {\n    d: 1\n  }\ne: 1\n';
    const result = edit(text, (v) => {
      v.e = 2;
    });
    assert.deepEqual(result, { ok: true, text: text.replace('e: 1', 'e: 2'), changed: true });
    assert.equal(readDocuments(text)[0]?.kind, 'value');
  });
});
