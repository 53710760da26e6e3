/** What plain scalars mean; the same table is put to the real kubectl when it is built. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { equalJson, isObject, type Json, parseJson, valueAt } from '../../../src/core/json.ts';
import { resolvePlain, resolvePlainKustomize } from '../../../src/core/yaml/dialect.ts';
import { readDocuments } from '../../../src/core/yaml/index.ts';
import { part } from '../../cluster/parts.ts';

const readings: [string, Json][] = [
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'].map((text): [string, Json] => [
    text,
    true,
  ]),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'FALSE'].map((text): [string, Json] => [
    text,
    false,
  ]),
  ...['~', 'null', 'Null', 'NULL'].map((text): [string, Json] => [text, null]),
  ...['yEs', 'oN', 'tRUE', 'nULL', 'yy', 'none'].map((text): [string, Json] => [text, text]),
  ['0', 0],
  ['-0', 0],
  ['12', 12],
  ['+12', 12],
  ['-12', -12],
  ['0777', 511],
  ['-0777', -511],
  ['0o17', 15],
  ['0O17', 15],
  ['08', 8],
  ['0x1F', 31],
  ['0X1f', 31],
  ['-0x1F', -31],
  ['0b11', 3],
  ['0B11', 3],
  ['-0b11', -3],
  ['0b12', '0b12'],
  ['0x', '0x'],
  ['1_000', 1000],
  ['1__0_', 10],
  ['_1', '_1'],
  ['1,000', '1,000'],
  ['1.5', 1.5],
  ['1.', 1],
  ['.5', 0.5],
  ['-.5', -0.5],
  ['.5_0', 0.5],
  ['.5__0', '.5__0'],
  ['.5_', '.5_'],
  ['.1e1_0', 1e9],
  ['1e3', 1000],
  ['1E-2', 0.01],
  ['+1.5e+2', 150],
  ['1e999', '1e999'],
  ['1.2.3', '1.2.3'],
  ['10m', '10m'],
  ['.', '.'],
  ['+', '+'],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['18446744073709551615', 18446744073709551615n],
  ['18446744073709551616', 18446744073709552000n],
  ['0xFFFFFFFFFFFFFFFFF', 295147905179352825855n],
  ['12:30:00', '12:30:00'],
  ['1:20', '1:20'],
  ['2020-01-01', '2020-01-01'],
  ['2020-1-1', '2020-1-1'],
  ['2020-01-01T10:00:00Z', '2020-01-01T10:00:00Z'],
  ['2020-01-01 10:00:00', '2020-01-01 10:00:00'],
  ['plain', 'plain'],
  ['=', '='],
];

describe('a plain scalar', () => {
  for (const [text, value] of readings)
    it(`${text} reads as ${typeof value} ${String(value)}`, () =>
      assert.ok(equalJson(resolvePlain(text), value)));

  it('keeps the boolean words of YAML 1.1 as strings for kustomize', () => {
    for (const text of ['y', 'No', 'on', 'OFF', 'yes']) assert.equal(resolvePlainKustomize(text), text);
    assert.equal(resolvePlainKustomize('true'), true);
    assert.equal(resolvePlainKustomize('0777'), 511);
  });
});

describe('a map key', () => {
  const keys: [string, string][] = [
    ['y', 'true'],
    ['1', '1'],
    ['true', 'true'],
    ['0777', '511'],
    ['1.5', '1.5'],
    ['1234567.5', '1.2345675e+06'],
    ['0.00001', '1e-05'],
    ['"y"', 'y'],
    ['2020-01-01', '2020-01-01'],
  ];
  for (const [written, key] of keys)
    it(`${written} is ${JSON.stringify(key)}`, () => {
      const [document] = readDocuments(`${written}: v\n`);
      assert.deepEqual(document?.kind === 'value' && document.value, { [key]: 'v' });
    });
});

const scalarForms = `
  literal: |
    a  
     b

    c
  folded: >
    one
    two

    three
      more
    end
  keep: |+
    x

  strip: >-
    y
  double: "a\\tb\\u00e9\\
    c
    d"
  single: 'it''s
    two'
  plain: some words
    go on
  tag: !!str 12
  nothing:
  flow: {a: [1, b, "c"], d: , e}
`;

function builtKubectl(): string | undefined {
  try {
    return part('kubectl');
  } catch {
    return undefined;
  }
}

describe('the real kubectl', function () {
  this.timeout(60_000);

  it('reads as we do', function () {
    const kubectl = builtKubectl();
    if (kubectl === undefined) {
      console.log('    skipped: kubectl is not built (test/cluster/build.sh kubernetes)');
      this.skip();
    }
    const values = readings.map(([text], index) => `  v${index}: ${text}\n`).join('');
    const head = 'apiVersion: example.test/v1\nkind: Reading\nmetadata:\n  name: x\n  labels: {x: "y"}\n';
    const manifest = `${head}spec:${scalarForms}more:\n${values}`;
    const args = ['label', '--local', '-f', '-', '-o', 'json', 'x=y', '--overwrite'];
    const { stdout, stderr, status } = spawnSync(kubectl, args, {
      input: manifest,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const theirs = parseJson(stdout);
    const [document] = readDocuments(manifest);
    assert.ok(document?.kind === 'value' && isObject(document.value) && isObject(theirs));
    for (const [index, [text]] of readings.entries()) {
      const [ours, real] = [document.value, theirs].map((value) => valueAt(value, ['more', `v${index}`]));
      // kubectl prints what does not fit a signed 64-bit integer as a double.
      if (typeof ours === 'bigint' && ours >= 1n << 63n) continue;
      assert.ok(equalJson(ours, real), `${text}: ours ${String(ours)}, kubectl ${String(real)}`);
    }
    assert.deepEqual(document.value.spec, theirs.spec);
  });
});
