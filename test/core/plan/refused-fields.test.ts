import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import { type Plan, withRefusedFields } from '../../../src/core/plan/index.ts';
import { refuse } from '../../../src/core/refusal.ts';

const managers = { appliers: [], ignore: [] };

function rates(data: Readonly<Record<string, string>>): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'rates', namespace: 'shop' },
    data: { ...data },
  };
}

const object = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'rates' };

function planOf(...refused: Plan['refused']): Plan {
  return { edits: [], refused, skipped: [], notices: [], unchanged: [], outcomes: [] };
}

describe('a refused edit', () => {
  const live = rates({ eur: '2', usd: '1', gbp: '3' });
  const refusal = refuse('NotEditable', 'no', { object });

  it('names the fields that were edited', () => {
    const change = {
      kind: 'upsert',
      live,
      handled: rates({ eur: '1', usd: '1' }),
      applierKnown: false,
    } as const;
    const [found] = withRefusedFields(planOf(refusal), [change], { managers }).refused;
    assert.deepEqual(found, { ...refusal, fields: ['data.eur', 'data.gbp'] });
  });

  it('names none where nothing tells what it was before, or the folder is refused', () => {
    const change = { kind: 'upsert', live, applierKnown: false } as const;
    const folder = refuse('BrokenKustomization', 'no');
    const { refused } = withRefusedFields(planOf(refusal, folder), [change], { managers });
    assert.deepEqual(refused, [refusal, folder]);
  });
});
