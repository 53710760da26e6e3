import assert from 'node:assert/strict';
import { acknowledgement, handledRequest } from '../../src/controllers/acknowledgement.ts';
import { sample } from '../../src/controllers/sampled.ts';
import { quietBranch } from './recording-mirror.ts';

interface Status {
  readonly commit?: string;
  readonly seen?: string;
  readonly pushed?: string;
}

describe('sampled fields', () => {
  const written: Status = { commit: 'a', seen: '1', pushed: 'p' };
  const table: readonly [
    string,
    Status | undefined,
    Status,
    number | undefined,
    Status,
    number | undefined,
  ][] = [
    ['wait for their minute', written, { commit: 'b', seen: '2', pushed: 'p' }, 10_000, written, 50_000],
    [
      'go when it is over',
      written,
      { ...written, commit: 'b' },
      60_000,
      { ...written, commit: 'b' },
      undefined,
    ],
    [
      'go when nobody knows how old they are',
      written,
      { ...written, commit: 'b' },
      undefined,
      { ...written, commit: 'b' },
      undefined,
    ],
    [
      'go along with another change',
      written,
      { commit: 'b', seen: '2', pushed: 'q' },
      1,
      { commit: 'b', seen: '2', pushed: 'q' },
      undefined,
    ],
    ['never wait the first time', { pushed: 'p' }, { ...written }, 1, written, undefined],
    ['never wait for a withdrawal', written, { pushed: 'p' }, 1, { pushed: 'p' }, undefined],
    ['that did not change hold nothing back', written, { ...written }, 1, written, undefined],
  ];
  for (const [name, before, after, age, status, heldForMs] of table) {
    it(name, () => {
      const sampled = sample({ before, after, fields: ['commit', 'seen'], age });
      assert.deepEqual({ ...sampled.status }, { ...status });
      assert.equal(sampled.heldForMs, heldForMs);
    });
  }
});

describe('the acknowledgement of a halted branch', () => {
  const branch = (asked: string, handled?: string) => ({
    metadata: { name: 'git-main', annotations: { 'reconcile.configbutler.ai/requestedAt': asked } },
    status: handled === undefined ? {} : { lastHandledReconcileAt: handled },
  });
  const notLooked = { ...quietBranch, tip: undefined };
  const halted = { ...notLooked, halt: 'BranchGone' } as const;

  it('made while nobody ran reaches the worker only after it has looked', () => {
    assert.equal(acknowledgement(branch('new', 'old'), undefined), 'old');
    assert.equal(acknowledgement(branch('new', 'old'), notLooked), 'old');
    assert.equal(acknowledgement(branch('new', 'old'), halted), 'new');
    assert.equal(acknowledgement(branch('new'), quietBranch), 'new');
  });

  it('is handled once it was handed over and no halt is left', () => {
    assert.equal(handledRequest(branch('new', 'old'), halted, 'new'), 'old');
    assert.equal(handledRequest(branch('new', 'old'), quietBranch, 'old'), 'old');
    assert.equal(handledRequest(branch('new', 'old'), quietBranch, 'new'), 'new');
    assert.equal(handledRequest(branch(''), quietBranch, ''), undefined);
  });
});
