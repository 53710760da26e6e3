import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import { Concealed, ciphertextIn, sealProblem } from '../../../src/core/sealed/index.ts';

/** A ciphertext as sops prints it, of a value with that many bytes. */
function cipher(length: number, type = 'str'): string {
  const data = Buffer.alloc(length, 1).toString('base64');
  return `ENC[AES256_GCM,data:${data},iv:AAAA,tag:AAAA,type:${type}]`;
}

const sops = { mac: cipher(128), age: [] };
const desired: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'shop' },
  type: 'Opaque',
  data: { password: 'aHVudGVyMg==', empty: '' },
};
const sealed: JsonObject = { ...desired, data: { password: cipher(12), empty: '' }, sops };

function problem(
  change: JsonObject,
  more: { desired?: JsonObject; before?: JsonObject; sensitive?: boolean } = {},
) {
  return sealProblem({ sealed: { ...sealed, ...change }, desired, sensitive: true, ...more });
}

describe('a sealed document', () => {
  it('is right when every value is hidden at its length and the identity is there', () => {
    assert.equal(problem({}), undefined);
  });

  it('is wrong without sops part or checksum', () => {
    assert.match(problem({ sops: 'x' }) ?? '', /no sops part/);
    assert.match(problem({ sops: { age: [] } }) ?? '', /no checksum/);
  });

  it('is wrong when a value of the Secret is readable, and says which without showing it', () => {
    const words = problem({ data: desired.data ?? null }) ?? '';
    assert.match(words, /leaves data\.password readable/);
    assert.doesNotMatch(words, /aHVudGVyMg/);
  });

  it('is wrong when a value has another length, type or place', () => {
    assert.match(problem({ data: { password: cipher(11), empty: '' } }) ?? '', /data\.password/);
    assert.match(problem({ data: { password: cipher(12, 'int'), empty: '' } }) ?? '', /data\.password/);
    assert.match(problem({ data: { other: cipher(12), empty: '' } }) ?? '', /data\.(password|other)/);
    assert.match(problem({ data: { password: cipher(12), empty: '', more: cipher(1) } }) ?? '', /data\.more/);
  });

  it('is wrong when nobody could find it', () => {
    assert.match(problem({ metadata: { name: cipher(2), namespace: 'shop' } }) ?? '', /metadata\.name/);
    assert.match(problem({ kind: cipher(6) }) ?? '', /does not show kind/);
  });

  it('may keep readable what the file had readable, and nothing new of it', () => {
    const before: JsonObject = { ...sealed, data: { password: 'aHVudGVyMg==', empty: '' } };
    assert.equal(problem({ data: desired.data ?? null }, { before }), undefined);
    const other: JsonObject = { ...sealed, data: { password: 'b3RoZXI=', empty: '' } };
    assert.match(problem({ data: desired.data ?? null }, { before: other }) ?? '', /data\.password readable/);
  });

  it('seals again what was sealed, also of an object that is not sensitive', () => {
    const words = problem({ data: desired.data ?? null }, { before: sealed, sensitive: false });
    assert.match(words ?? '', /data\.password readable/);
    assert.equal(problem({ data: desired.data ?? null }, { sensitive: false }), undefined);
  });

  it('is wrong when an annotation repeats a value with its key, plain, coded or inside JSON', () => {
    for (const copy of [
      '{"password":"aHVudGVyMg=="}',
      'password=hunter2',
      '{\\"password\\":\\"hunter2\\"}',
    ]) {
      const metadata = { name: 'db', namespace: 'shop', annotations: { 'tool.example/original': copy } };
      const words = problem({ metadata }, { desired: { ...desired, metadata } }) ?? '';
      assert.match(words, /repeats the value of password in its annotation tool\.example\/original/);
      assert.doesNotMatch(words, /hunter2|aHVudGVyMg/);
    }
    const metadata = { name: 'db', namespace: 'shop', annotations: { note: 'the password is in the vault' } };
    assert.equal(problem({ metadata }, { desired: { ...desired, metadata } }), undefined);
  });
});

describe('a live Secret that somebody applied sealed', () => {
  it('is told by the field that holds ciphertext', () => {
    const data = { plain: 'aHVudGVyMg==', lost: Buffer.from(cipher(4)).toString('base64') };
    assert.equal(ciphertextIn({ data }), 'data.lost');
    assert.equal(ciphertextIn({ data: { plain: 'aHVudGVyMg==' } }), undefined);
  });
});

describe('a concealed value', () => {
  it('shows a mask wherever it is printed', async () => {
    const { inspect, format } = await import('node:util');
    const hidden = new Concealed({ password: 'hunter2' });
    for (const text of [
      String(hidden),
      JSON.stringify({ hidden }),
      inspect({ hidden }),
      format('%o', hidden),
    ])
      assert.doesNotMatch(text, /hunter2/);
    assert.equal(hidden.reveal().password, 'hunter2');
  });
});
