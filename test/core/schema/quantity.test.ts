import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareQuantities, parseDuration, parseQuantity } from '../../../src/core/intent/schema/index.ts';
import { addQuantities, roundToMilli } from '../../../src/core/intent/schema/quantity.ts';
import type { Json } from '../../../src/core/json.ts';

describe('quantities', () => {
  const same: [Json, Json][] = [
    ['1000m', '1'],
    ['1000m', 1],
    [0.5, '500m'],
    ['.5', '500m'],
    ['5.', 5n],
    ['5000', '5k'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['0.5Ti', '512Gi'],
    ['1e3', '1k'],
    ['1E3', '1k'],
    ['1E', '1000P'],
    ['1e-3', '1m'],
    ['01', '+1'],
    ['100u', '0.0001'],
    ['1000n', '1u'],
    ['-1', '-1000m'],
    ['0', '0Gi'],
    [1e21, '1000E'],
    ['9007199254740993', 9007199254740993n],
  ];
  for (const [a, b] of same) {
    it(`${String(a)} is ${String(b)}`, () => assert.equal(compare(a, b), 0));
  }

  it('tells apart what a double cannot', () => {
    assert.equal(compare('9007199254740993', '9007199254740992'), 1);
    assert.equal(compare('0.1', '0.10000000000000000001'), -1);
    assert.equal(compare('1Gi', '1G'), 1);
  });

  it('reads nothing else as an amount', () => {
    const others: Json[] = [
      '',
      '.',
      'm',
      '1 Gi',
      '1gi',
      '1mm',
      '1e',
      '0x10',
      '1_000',
      '25%',
      true,
      null,
      [],
      '1e1000',
    ];
    for (const value of [...others, `${'1'.repeat(65)}`, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(parseQuantity(value), undefined, String(value));
    }
  });

  it('rounds what is finer than a thousandth away from zero', () => {
    const rounded = (text: string): bigint => {
      const amount = parseQuantity(text);
      assert.ok(amount);
      return roundToMilli(amount).numerator;
    };
    assert.deepEqual(['0.0001', '1.0001', '0.002', '-0.0001'].map(rounded), [1n, 1001n, 2n, -1n]);
  });

  it('orders and adds like the numbers they are', () => {
    const amount = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [left, right] = [parseQuantity(`${a}m`), parseQuantity(b)];
        assert.ok(left && right);
        assert.equal(Math.sign(compareQuantities(left, right)), Math.sign(a - b * 1000));
        const sum = parseQuantity(`${a + b * 1000}m`);
        assert.ok(sum);
        assert.equal(compareQuantities(addQuantities(left, right), sum), 0);
      }),
    );
  });

  function compare(a: Json, b: Json): number {
    const [left, right] = [parseQuantity(a), parseQuantity(b)];
    assert.ok(left && right);
    return compareQuantities(left, right);
  }
});

describe('durations', () => {
  it('compares by length', () => {
    const same = [
      ['1h30m', '90m0s'],
      ['60s', '1m'],
      ['1.5h', '90m'],
      ['1000ms', '1s'],
      ['0', '0s'],
      ['-1m', '-60s'],
      ['1000us', '1ms'],
      ['.5s', '500ms'],
    ] as const;
    for (const [a, b] of same) {
      assert.notEqual(parseDuration(a), undefined);
      assert.equal(parseDuration(a), parseDuration(b), `${a} ${b}`);
    }
    assert.notEqual(parseDuration('1m'), parseDuration('1ms'));
  });

  it('reads nothing else as a duration', () => {
    for (const value of ['', '5', '5 m', '1d', 'm', '1m2', 5, null, true])
      assert.equal(parseDuration(value), undefined);
  });
});
