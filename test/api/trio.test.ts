import assert from 'node:assert/strict';
import type { Condition } from '../../src/api/condition.ts';
import { type Contributor, deriveTrio, readyEvent, setCondition, setConditions } from '../../src/api/trio.ts';

const noon = '2026-01-01T12:00:00Z';
const later = '2026-01-01T12:05:00Z';

const fine: Contributor = { level: 'converged', reason: 'Succeeded', message: 'all good' };
const suspended: Contributor = { level: 'converged', reason: 'Suspended', message: 'spec.suspend is true' };
const replaying: Contributor = { level: 'progressing', reason: 'Replaying', message: 'reading' };
const checking: Contributor = {
  level: 'progressing',
  reason: 'Checking',
  message: 'asking',
  ready: 'Unknown',
};
const broken: Contributor = { level: 'stalled', reason: 'SecretNotFound', message: 'no Secret git' };

function told(contributors: readonly Contributor[]): string[] {
  return deriveTrio(contributors, 3, noon).map(({ type, status, reason }) => `${type}=${status}/${reason}`);
}

describe('the trio Ready, Reconciling, Stalled', () => {
  const table: [string, Contributor[], string[]][] = [
    [
      'nothing to depend on',
      [],
      ['Ready=True/Succeeded', 'Reconciling=False/Succeeded', 'Stalled=False/Succeeded'],
    ],
    [
      'all converged',
      [fine, fine],
      ['Ready=True/Succeeded', 'Reconciling=False/Succeeded', 'Stalled=False/Succeeded'],
    ],
    [
      'suspended first',
      [suspended, fine],
      ['Ready=True/Suspended', 'Reconciling=False/Succeeded', 'Stalled=False/Succeeded'],
    ],
    [
      'known not to hold yet',
      [fine, replaying],
      ['Ready=False/Replaying', 'Reconciling=True/Replaying', 'Stalled=False/Progressing'],
    ],
    [
      'not decided yet',
      [checking, fine],
      ['Ready=Unknown/Checking', 'Reconciling=True/Checking', 'Stalled=False/Progressing'],
    ],
    [
      'the first of equals',
      [fine, replaying, checking],
      ['Ready=False/Replaying', 'Reconciling=True/Replaying', 'Stalled=False/Progressing'],
    ],
    [
      'stalled wins over progressing',
      [replaying, broken, fine],
      ['Ready=False/SecretNotFound', 'Reconciling=False/SecretNotFound', 'Stalled=True/SecretNotFound'],
    ],
  ];
  for (const [name, contributors, expected] of table) {
    it(name, () => assert.deepEqual(told(contributors), expected));
  }

  it('carries the message and the generation', () => {
    for (const condition of deriveTrio([broken], 7, noon)) {
      assert.equal(condition.observedGeneration, 7);
      assert.equal(condition.message, 'no Secret git');
      assert.equal(condition.lastTransitionTime, noon);
    }
  });
});

describe('setting a condition', () => {
  const before: Condition[] = [
    { type: 'Ready', status: 'False', reason: 'Checking', message: 'a', lastTransitionTime: noon },
    { type: 'Stalled', status: 'False', reason: 'Progressing', message: 'b', lastTransitionTime: noon },
  ];

  it('keeps the transition time while the status stays, whatever the reason', () => {
    const after = setCondition(
      before,
      { type: 'Ready', status: 'False', reason: 'ConnectionFailed', message: 'c' },
      later,
    );
    assert.equal(after[0]?.lastTransitionTime, noon);
    assert.equal(after[0]?.reason, 'ConnectionFailed');
  });

  it('moves the transition time with the status', () => {
    const after = setCondition(
      before,
      { type: 'Ready', status: 'True', reason: 'Succeeded', message: '' },
      later,
    );
    assert.equal(after[0]?.lastTransitionTime, later);
  });

  it('updates in place, adds at the end and changes nothing it was given', () => {
    const copy = structuredClone(before);
    const after = setConditions(
      before,
      [
        { type: 'Validated', status: 'True', reason: 'Succeeded', message: '' },
        { type: 'Ready', status: 'True', reason: 'Succeeded', message: '' },
      ],
      later,
    );
    assert.deepEqual(
      after.map(({ type }) => type),
      ['Ready', 'Stalled', 'Validated'],
    );
    assert.deepEqual(before, copy);
  });

  it('cuts a message that the schema would refuse', () => {
    const update = {
      type: 'Ready',
      status: 'True',
      reason: 'Succeeded',
      message: 'x'.repeat(40_000),
    } as const;
    assert.equal(setCondition([], update, noon)[0]?.message.length, 32_768);
  });
});

describe('the Event of a Ready transition', () => {
  const table: [string, Contributor[] | undefined, Contributor[], string | undefined][] = [
    ['a new object that is still read makes none', undefined, [checking], undefined],
    ['a new object that is ready', undefined, [fine], 'Normal Succeeded'],
    ['a new object that is stalled', undefined, [broken], 'Warning SecretNotFound'],
    ['progress that fails for now is no warning', [fine], [replaying], 'Normal Replaying'],
    ['progress that ends stalled', [replaying], [broken], 'Warning SecretNotFound'],
    ['stalled that recovers', [broken], [fine], 'Normal Succeeded'],
    ['the same again makes none', [broken], [broken], undefined],
    ['another reason of the same state makes none', [fine], [suspended], undefined],
  ];
  for (const [name, before, after, expected] of table) {
    it(name, () => {
      const was = before === undefined ? undefined : deriveTrio(before, 1, noon);
      const event = readyEvent(was, deriveTrio(after, 1, later));
      assert.equal(event && `${event.type} ${event.reason}`, expected);
    });
  }
});
