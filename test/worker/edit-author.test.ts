import assert from 'node:assert/strict';
import { editAuthor } from '../../src/worker/edit-author.ts';

const entry = (manager: string, time: string | undefined, subresource?: string) => ({
  manager,
  operation: 'Update',
  ...(time === undefined ? {} : { time }),
  ...(subresource === undefined ? {} : { subresource }),
});

describe('the author of an edit', () => {
  const early = '2026-01-01T10:00:00Z';
  const late = '2026-01-01T11:00:00Z';

  it('is named by the newest field managers', () => {
    const object = { metadata: { managedFields: [entry('kubectl-edit', late), entry('helm', early)] } };
    assert.deepEqual(editAuthor(object), { managers: ['kubectl-edit'], proof: 'managedFields' });
  });

  it('is never one who only wrote the status', () => {
    const object = {
      metadata: {
        managedFields: [entry('kubectl', early), entry('kube-controller-manager', late, 'status')],
      },
    };
    assert.deepEqual(editAuthor(object).managers, ['kubectl']);
  });

  // kubectl scale leaves an entry without a time; the edit was credited to the applier that came before.
  it('is an entry without a time where else only an applier is newest', () => {
    const object = {
      metadata: {
        managedFields: [entry('kustomize-controller', late), entry('kubectl', undefined, 'scale')],
      },
    };
    assert.deepEqual(editAuthor(object).managers, ['kubectl']);
  });

  it('of a delete is unknown', () => {
    assert.deepEqual(editAuthor(undefined), { managers: [], proof: 'none' });
  });
});
