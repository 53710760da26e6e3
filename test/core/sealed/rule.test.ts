import assert from 'node:assert/strict';
import {
  governingConfig,
  isSensitiveType,
  sealScope,
  stepsBetween,
  unread,
} from '../../../src/core/sealed/index.ts';
import { treeOf } from '../../cases/corpus.ts';

const rules = (name: string) => `creation_rules:\n  - age: ${name}\n`;

async function governing(files: Record<string, string>, path: string, recipients: readonly string[] = []) {
  const tree = treeOf(new Map(Object.entries(files).map(([at, text]) => [at, Buffer.from(text)])));
  return await governingConfig(tree, path, recipients);
}

describe('the rule that seals a new document', () => {
  const path = 'apps/shop/db.sops.yaml';

  it('is the nearest .sops.yaml with rules above it, and wins over the recipients', async () => {
    const files = {
      '.sops.yaml': rules('root'),
      'apps/.sops.yaml': rules('apps'),
      'apps/web/.sops.yaml': rules('web'),
    };
    const found = await governing(files, path, ['age1x']);
    assert.ok(found.kind === 'config' && found.source === 'repository');
    assert.equal(found.config.path, 'apps/.sops.yaml');
    assert.equal(found.config.text, rules('apps'));
  });

  it('is of the recipients when no file has rules', async () => {
    const found = await governing({ '.sops.yaml': 'stores: {yaml: {indent: 2}}\n' }, path, [
      'age1x',
      'age1y',
    ]);
    assert.ok(found.kind === 'config' && found.source === 'recipients');
    assert.match(found.config.text, /"age":"age1x,age1y"/);
    assert.match(found.config.text, /\^\(data\|stringData\)\$/);
  });

  it('is none without either, and never past a file that cannot be read', async () => {
    assert.equal((await governing({}, path)).kind, 'none');
    const broken = await governing({ '.sops.yaml': 'creation_rules: [\n' }, path, ['age1x']);
    assert.ok(broken.kind === 'config' && broken.source === 'repository');
  });

  it('seals everything but the identity of an object that is no Secret', () => {
    assert.equal(sealScope({ apiVersion: 'v1', kind: 'Secret', data: {} }), undefined);
    const scope = sealScope({ apiVersion: 'x/v1', kind: 'Token', metadata: {}, spec: {}, 'a.b': 1 }) ?? '';
    assert.match('spec', new RegExp(scope));
    assert.match('a.b', new RegExp(scope));
    assert.doesNotMatch('axb', new RegExp(scope));
    assert.doesNotMatch('metadata', new RegExp(scope));
  });
});

describe('the steps between two documents', () => {
  it('name single values, take out what is gone, and set lists as a whole', () => {
    const before = { data: { a: '1', b: '2', c: '3' }, list: [1, 2], same: { x: 1 } };
    const after = { data: { a: '1', b: 'x', d: '4' }, list: [2], same: { x: 1 } };
    assert.deepEqual(stepsBetween(before, after), [
      { path: ['data', 'c'] },
      { path: ['data', 'b'], value: 'x' },
      { path: ['data', 'd'], value: '4' },
      { path: ['list'], value: [2] },
    ]);
    assert.deepEqual(stepsBetween(before, before), []);
  });

  it('are none when sops could not be told the place, or when there are too many', () => {
    assert.equal(stepsBetween({}, { 'a[0]': 1 }), undefined);
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, 1]));
    assert.equal(stepsBetween({ data: {} }, { data: many })?.length, undefined);
  });
});

describe('a sealed document that no key opens', () => {
  const age = [
    { recipient: 'age1a', enc: 'x' },
    { recipient: 'age1b', enc: 'y' },
  ];

  it('is sealed again for its own recipients and fields', () => {
    const found = unread({
      kind: 'Secret',
      sops: { age, encrypted_regex: '^password$', mac_only_encrypted: true },
    });
    assert.ok(found.ok);
    assert.deepEqual(found.document, { kind: 'Secret' });
    assert.deepEqual(JSON.parse(found.config.text), {
      creation_rules: [{ age: 'age1a,age1b', encrypted_regex: '^password$', mac_only_encrypted: true }],
    });
  });

  it('is not sealed again when another kind of key would be lost', () => {
    for (const other of ['pgp', 'kms', 'key_groups']) {
      const found = unread({ sops: { age, [other]: [{ fp: 'x' }] } });
      assert.ok(!found.ok && found.message.includes(other));
    }
    assert.ok(!unread({ sops: { age: [] } }).ok);
  });
});

describe('sensitive types', () => {
  it('are core Secrets and what is listed, in each spelling and any case', () => {
    const isSensitive = isSensitiveType(['Tokens', 'vault.example/Keys', 'certs.pki.example']);
    assert.ok(isSensitive('', 'secrets'));
    assert.ok(isSensitive('any.example', 'tokens'));
    assert.ok(isSensitive('vault.example', 'keys'));
    assert.ok(isSensitive('pki.example', 'certs'));
    assert.ok(!isSensitive('other.example', 'keys'));
    assert.ok(!isSensitive('apps', 'secrets'));
  });
});
