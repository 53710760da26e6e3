import assert from 'node:assert/strict';
import { type BranchState, initialState, type ObjectChange } from '../../../src/core/branch/state.ts';
import { step } from '../../../src/core/branch/step.ts';

const target = 'shop/web';
const author = { managers: ['kubectl-edit'], proof: 'managedFields' } as const;
const resource = { group: '', version: 'v1', resource: 'configmaps' };

function change(name: string, digest: string, echo = false): ObjectChange {
  const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name };
  const versions = { uid: name, resourceVersion: digest, digest, body: digest };
  return {
    key: name,
    id,
    resource,
    operation: 'UPDATE',
    live: {},
    whole: false,
    bytes: 1,
    echo,
    ...versions,
  };
}

/** A branch whose windows stay open for a minute, after these changes. */
function fed(...changes: ObjectChange[]): BranchState {
  let state = initialState({ byteCap: 1_000_000, seen: false });
  const settings = { uid: 'u', idleTimeoutMs: 60_000, maxDurationMs: 60_000 };
  state = step(state, { kind: 'target', target, settings }, 0).state;
  for (const one of changes) state = step(state, { kind: 'live', target, author, change: one }, 0).state;
  return state;
}

const decided = (state: BranchState) =>
  state.queue.map(({ changes }) => changes.map(({ key, digest }) => `${key}=${digest}`).join(' '));
const gathering = (state: BranchState) => [...(state.live?.changes.keys() ?? [])];

describe('an applier’s own write', () => {
  it('is decided at once, and leaves what gathers alone', () => {
    const state = fed(change('a', 'edit'), change('b', 'applied', true));
    assert.deepEqual(decided(state), ['b=applied']);
    assert.deepEqual(gathering(state), ['a']);
  });

  it('over an edit that still gathers is decided after it, so the edit is committed', () => {
    const state = fed(change('a', 'edit'), change('c', 'edit'), change('a', 'applied', true));
    assert.deepEqual(decided(state), ['a=edit c=edit', 'a=applied']);
    assert.deepEqual(gathering(state), []);
  });

  it('is followed by a later edit of the same object, which gathers anew', () => {
    const state = fed(change('a', 'one'), change('a', 'applied', true), change('a', 'two'));
    assert.deepEqual(decided(state), ['a=one', 'a=applied']);
    assert.equal(state.live?.changes.get('a')?.digest, 'two');
  });

  it('of a target that is gone is dropped', () => {
    const state = step(fed(), { kind: 'target', target, settings: undefined }, 0).state;
    const echo = change('a', 'applied', true);
    assert.deepEqual(decided(step(state, { kind: 'live', target, author, change: echo }, 0).state), []);
  });
});
