import assert from 'node:assert/strict';
import {
  type EarlierAnswer,
  leftToDo,
  type SyncOperation,
  supersededMessage,
} from '../../../src/core/apply/index.ts';

const startedAt = 1_000_000_000;
const tip = 'b'.repeat(40);
const superseded = { decision: 'superseded', tip, edits: [], refused: [] } as const;
const again = supersededMessage(superseded, { kind: 'reissue' });
const looks = supersededMessage(superseded, { kind: 'refresh' });
const ended = supersededMessage(superseded, {
  kind: 'end',
  why: 'somebody else has changed the folder since',
});
const held = 'held by GitOps Reverser: PushRefused: no';

function operation(changed: Partial<SyncOperation> = {}): SyncOperation {
  return {
    phase: 'Failed',
    attemptEnded: true,
    startedAt,
    retries: false,
    automated: false,
    manifests: false,
    overridesSource: false,
    sources: [],
    ...changed,
  };
}

function answer(changed: Partial<EarlierAnswer> = {}): EarlierAnswer {
  return {
    phase: 'Superseded',
    message: again,
    degraded: false,
    createdAt: startedAt + 2_000,
    observedAt: startedAt + 3_000,
    ...changed,
  };
}

const running = operation({ phase: 'Running', attemptEnded: false });
const open = answer({ phase: 'Open', message: 'every live edit is in it' });
const closed = answer({ phase: 'Closed', message: held, degraded: true });

describe('what an earlier process left to do for a sync', () => {
  const rows: [string, EarlierAnswer, SyncOperation | undefined, string | undefined, string, number?][] = [
    ['it failed with our words, which promised more', answer(), operation(), again, 'continue'],
    ['an automated one too', answer({ message: looks }), operation({ automated: true }), looks, 'continue'],
    ['it has not failed yet', answer(), running, undefined, 'wait'],
    ['it waits for another attempt', answer(), operation({ phase: 'Running' }), again, 'wait'],
    ['our words ended it', answer({ message: ended }), operation(), ended, 'nothing'],
    ['it failed with other words', answer(), operation(), 'terminated', 'nothing'],
    ['its result says nothing of the gate', answer(), operation(), undefined, 'nothing'],
    ['it succeeded all the same', answer(), operation({ phase: 'Succeeded' }), again, 'nothing'],
    ['five minutes have passed', answer(), operation(), again, 'continue', 300_000],
    ['more than five minutes have passed', answer(), operation(), again, 'nothing', 300_001],
    ['nobody knows when', answer({ observedAt: Number.NaN }), operation(), again, 'nothing'],
    [
      'the gate was made in its first second',
      answer({ createdAt: startedAt }),
      operation(),
      again,
      'continue',
    ],
    ['another sync began since', answer({ createdAt: startedAt - 2_000 }), operation(), again, 'nothing'],
    ['the gate has no age', answer({ createdAt: Number.NaN }), operation(), again, 'nothing'],
    ['its commits are not known', answer(), operation({ sources: undefined }), again, 'nothing'],
    ['there is no sync', answer(), undefined, undefined, 'nothing'],
    ['it was let through and goes on', open, running, undefined, 'follow'],
    [
      'it was let through and is being ended',
      open,
      operation({ phase: 'Terminating', attemptEnded: false }),
      '',
      'follow',
    ],
    ['it was let through long ago and goes on', open, running, undefined, 'follow', 3_000_000],
    ['it was let through and has ended', open, operation({ phase: 'Succeeded' }), open.message, 'nothing'],
    ['it was let through and is tried again', open, operation({ phase: 'Running' }), open.message, 'nothing'],
    ['another one than was let through goes on', answer({ ...open, createdAt: 0 }), running, '', 'nothing'],
    ['it was let fail', closed, operation(), held, 'continue'],
    ['it was let fail long ago', closed, operation(), held, 'continue', 9_000_000],
    ['it failed for another reason while closed', closed, operation(), 'terminated', 'nothing'],
    ['it is only held', answer({ phase: 'Closed', message: held }), operation(), held, 'nothing'],
    ['it was not answered yet', answer({ phase: 'Pending' }), running, undefined, 'nothing'],
  ];
  for (const [name, given, now, said, expected, later = 0] of rows) {
    it(`is to ${expected}: ${name}`, () => {
      assert.equal(leftToDo(given, now, said, given.observedAt + later), expected);
    });
  }
});
