import assert from 'node:assert/strict';
import { sopsConfig } from '../../../src/core/folder/index.ts';
import {
  addDocument,
  bufferOf,
  dropDocument,
  type FileBuffer,
  newBuffer,
  proveBuffer,
  setDocument,
} from '../../../src/core/plan/buffer.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';

const text = '# one\na: 1\n--- # two\nb: 2\n---\nc: 3';
const listKeys = () => undefined;

function opened(): FileBuffer {
  return bufferOf('x.yaml', text, readDocuments(text));
}

function problemOf(buffer: FileBuffer): string | undefined {
  const proof = proveBuffer(buffer);
  return proof.ok ? undefined : proof.problem;
}

function place(index: number) {
  const id = { group: '', kind: 'ConfigMap', namespace: '', name: 'x' };
  return { id, apiVersion: 'v1', path: 'x.yaml', index, encrypted: false };
}

describe('a file in a batch', () => {
  it('is proved after edits, removals and additions', () => {
    const buffer = opened();
    assert.ok(setDocument(buffer, place(1), { b: 20 }, { listKeys }).ok);
    dropDocument(buffer, place(0));
    assert.ok(setDocument(buffer, place(2), { c: 30 }, { listKeys }).ok);
    assert.ok(addDocument(buffer, { d: 4 }).ok);
    assert.equal(problemOf(buffer), undefined);
    assert.equal(buffer.text, '--- # two\nb: 20\n---\nc: 30\n---\nd: 4\n');
  });

  it('takes the place of an empty last document', () => {
    const buffer = bufferOf('x.yaml', 'a: 1\n---\n', readDocuments('a: 1\n---\n'));
    assert.ok(addDocument(buffer, { d: 4 }).ok);
    assert.equal(problemOf(buffer), undefined);
    assert.equal(buffer.text, 'a: 1\n---\nd: 4\n');
  });

  it('is not proved when another document lost a byte, went missing, or an edit reads differently', () => {
    const touched = opened();
    touched.text = text.replace('a: 1', 'a:  1');
    assert.match(problemOf(touched) ?? '', /document 1 is not the same bytes/);
    const shorter = opened();
    shorter.text = '# one\na: 1\n';
    assert.match(problemOf(shorter) ?? '', /holds 1 documents after the edit instead of 3/);
    const wrong = newBuffer('y.yaml');
    addDocument(wrong, { a: 'yes' });
    wrong.text = 'a: yes\n';
    assert.match(problemOf(wrong) ?? '', /document 1 does not read back/);
  });

  it('is gone with its last document', () => {
    const buffer = opened();
    for (const index of [1, 0, 2]) dropDocument(buffer, place(index));
    assert.equal(buffer.text, undefined);
    assert.throws(() => dropDocument(buffer, place(0)), /no longer holds document 1/);
  });
});

describe('the sops configuration of a folder', () => {
  it('is one rule for files that end in .sops.yaml', () => {
    const { path, text: config } = sopsConfig(['age1first', 'age1second']);
    const [document] = readDocuments(config);
    assert.equal(path, '.sops.yaml');
    assert.ok(document?.kind === 'value');
    assert.deepEqual(document.value, {
      creation_rules: [
        {
          path_regex: '\\.sops\\.ya?ml$',
          encrypted_regex: '^(data|stringData)$',
          age: 'age1first, age1second',
        },
      ],
    });
  });
});
