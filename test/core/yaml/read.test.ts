import assert from 'node:assert/strict';
import { type ReadDocument, readDocuments } from '../../../src/core/yaml/index.ts';

function only(text: string): ReadDocument {
  const [document, ...others] = readDocuments(text);
  assert.ok(document !== undefined && others.length === 0);
  return document;
}

describe('reading documents', () => {
  it('gives each its value and its place', () => {
    const text = 'a: 1\n---\n# only a comment\n---\nb: [x]\n';
    const documents = readDocuments(text);
    assert.deepEqual(
      documents.map((document) => document.kind),
      ['value', 'empty', 'value'],
    );
    const last = documents[2];
    assert.ok(last?.kind === 'value');
    assert.deepEqual(last.value, { b: ['x'] });
    assert.equal(last.text, '---\nb: [x]\n');
    assert.equal(text.slice(last.slice.bodyStart, last.slice.bodyEnd), 'b: [x]\n');
  });

  it('reads a block of text that the end of the file cuts off without an end of line', () => {
    for (const header of ['|', '|+', '>', '|-']) {
      const document = only(`a: ${header}\n  text`);
      assert.deepEqual(document.kind === 'value' && document.value, { a: 'text' });
    }
  });

  it('expands aliases and merge keys', () => {
    const document = only('a: &x {b: 1, c: 2}\nd: *x\ne:\n  <<: *x\n  c: 3\n');
    assert.ok(document.kind === 'value');
    assert.deepEqual(document.value, { a: { b: 1, c: 2 }, d: { b: 1, c: 2 }, e: { c: 3, b: 1 } });
  });

  it('takes a key named __proto__ as data', () => {
    const document = only('__proto__: {a: 1}\n');
    assert.ok(document.kind === 'value' && document.value !== null && typeof document.value === 'object');
    assert.ok(Object.hasOwn(document.value, '__proto__'));
  });

  const editable: [string, string][] = [
    ['an anchor and its alias', 'a: &x 1\nb: *x\n'],
    ['a core tag that says what the value is', 'a: !!str 1\nb: !!int 2\nc: !!map {d: 1}\n'],
    ['a date', 'a: 2020-01-01\n'],
    ['a quoted template', 'a: "{{ .x }}"\n'],
    ['an explicit key', '? a\n: b\n'],
  ];
  for (const [name, text] of editable)
    it(`lets be edited: ${name}`, () => {
      const document = only(text);
      assert.ok(document.kind === 'value');
      assert.equal(document.notEditable, undefined);
    });

  const notEditable: [string, string, RegExp][] = [
    ['a key that stands twice', 'a: 1\nb: 2\na: 3\n', /key "a" stands twice/],
    ['keys that differ only as written', '1: a\n"1": b\n', /key "1" stands twice/],
    ['a merge key', 'a: &x {b: 1}\nc:\n  <<: *x\n', /merge key/],
    ['a local tag', 'a: !mine 1\n', /tag "!mine"/],
    ['binary data by tag', 'a: !!binary aGk=\n', /tag "!!binary"/],
    ['an unrendered template', 'a: {{ .Values.x }}\n', /template/],
    ['a map as a key', '? {a: 1}\n: b\n', /map or list is used as a key/],
    ['a null key', '~: a\n', /key is null/],
    ['a line end of YAML 1.1 only', 'a: "x\u2028y"\n', /U\+2028/],
    ['a lone carriage return', 'a: "x\ry"\n', /U\+000D/],
    ['a tag directive', '%TAG !e! tag:example.test,2000:\n---\na: 1\n', /directive/],
  ];
  for (const [name, text, message] of notEditable)
    it(`says what keeps it from being edited: ${name}`, () => {
      const document = only(text);
      assert.ok(document.kind === 'value', document.kind);
      assert.match(document.notEditable ?? '', message);
    });

  const unreadable: [string, string, number, RegExp][] = [
    ['a tab as indentation', 'a:\n\tb: 1\n', 2, /tab/],
    ['an open quote', 'a: 1\nb: "x\n', 2, /closing quote/],
    ['an open bracket', 'a: [1\n', 2, /"," or "]"/],
    ['a colon in plain text', 'a: 1\nb: c: d\n', 2, /":" cannot stand here/],
    ['a template line', 'a: 1\n{{- if .x }}\nb: 2\n{{- end }}\n', 2, /./],
    ['an alias without anchor', 'a: *x\n', 1, /alias "x"/],
    ['an alias inside its anchor', 'a: &x [*x]\n', 1, /alias "x"/],
    ['a value that JSON lacks', 'a: .inf\n', 1, /no JSON value/],
    ['a control character', 'a: 1\nb: \u0001\n', 2, /U\+0001/],
    ['a directive without a separator', '%YAML 1.1\na: 1\n', 1, /"%" cannot begin/],
    ['an unknown YAML version', '%YAML 2.0\n---\na: 1\n', 1, /version/],
    ['an unknown escape', 'a: "\\q"\n', 1, /escape/],
    ['half a character as an escape', 'a: "\\ud800"\n', 1, /no character/],
    ['a missing colon', 'a: 1\nb\nc: 2\n', 2, /":" is missing/],
    ['text after a value', 'a: "b" c\n', 1, /./],
  ];
  for (const [name, text, line, message] of unreadable)
    it(`names line and cause of ${name}`, () => {
      const document = only(text);
      assert.ok(document.kind === 'unreadable', document.kind);
      assert.match(document.message, message);
      assert.equal(document.line, line);
    });

  it('counts lines from the start of the file and reads the other documents', () => {
    const documents = readDocuments('a: 1\n---\n\nb: [\n---\nc: 1\n');
    assert.deepEqual(
      documents.map((document) => (document.kind === 'unreadable' ? document.line : document.kind)),
      ['value', 5, 'value'],
    );
  });
});
