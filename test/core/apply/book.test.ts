import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type ApplyBook,
  closeWindow,
  dropMark,
  forgetObject,
  isIdle,
  judge,
  newBook,
  newestWriters,
  noteDelete,
  noteFound,
  noteUnchanged,
  openWindow,
  printOf,
  revisionsApplied,
  takeMark,
} from '../../../src/core/apply/index.ts';
import { isObject, type JsonObject } from '../../../src/core/json.ts';

type Entry = readonly [manager: string, time: number, fields: readonly string[], subresource?: string];

function live(...entries: Entry[]): JsonObject {
  const managedFields = entries.map(([manager, time, fields, subresource]) => ({
    manager,
    operation: 'Apply',
    time: new Date(time * 1000).toISOString(),
    fieldsV1: Object.fromEntries(fields.map((field) => [`f:${field}`, {}])),
    ...(subresource === undefined ? {} : { subresource }),
  }));
  return { metadata: { managedFields } };
}

const flux = { kind: 'Flux', namespace: 'flux-system', name: 'apps' } as const;
const applier = 'kustomize-controller';
const far = 1_000_000;

function opened(book: ApplyBook): number {
  const mark = takeMark(book, far);
  const window = openWindow(book, mark, { holder: flux, revision: 'r1', until: far });
  assert.ok(window !== undefined);
  dropMark(book, mark);
  return window;
}
const see = (book: ApplyBook, object: JsonObject, owner = flux) =>
  judge(book, { key: 'k', object, owner }, 0);

describe('the newest writer of an object', () => {
  it('is the manager whose entry is new, newer or grown, and not one that only lost fields', () => {
    const before = printOf(live([applier, 1, ['a', 'b']], ['kubectl-edit', 5, ['c']]));
    const wrote = (...entries: Entry[]) => newestWriters(before, live(...entries));
    assert.deepEqual(wrote([applier, 1, ['a']], ['kubectl-edit', 6, ['c', 'b']]), ['kubectl-edit']);
    assert.deepEqual(wrote([applier, 9, ['a', 'b', 'c']]), [applier]);
    assert.deepEqual(wrote([applier, 1, ['a', 'b', 'c']], ['kubectl-edit', 5, []]), [applier]);
    assert.deepEqual(
      wrote([applier, 1, ['a', 'b']], ['kubectl-edit', 5, ['c']], ['kubectl-patch', 5, ['d']]),
      ['kubectl-patch'],
    );
  });

  it('is whoever has the newest time when nothing was seen before, where a tie names several', () => {
    assert.deepEqual(newestWriters(undefined, live([applier, 2, ['a']], ['kubectl-edit', 1, ['b']])), [
      applier,
    ]);
    assert.deepEqual(newestWriters(undefined, live([applier, 2, ['a']], ['kubectl-edit', 2, ['b']])), [
      applier,
      'kubectl-edit',
    ]);
  });

  it('may be a manager without a time, as kubectl scale leaves it', () => {
    const object = live([applier, 2, ['a']]);
    const { metadata } = object;
    const scaled = { manager: 'kubectl', operation: 'Update', subresource: 'scale', fieldsV1: {} };
    assert.ok(isObject(metadata) && Array.isArray(metadata.managedFields));
    metadata.managedFields.push(scaled);
    assert.deepEqual(newestWriters(undefined, object), [applier, 'kubectl']);
    const book = newBook();
    opened(book);
    assert.equal(see(book, object), 'edit');
  });

  it('is never who wrote status', () => {
    assert.deepEqual(newestWriters(undefined, live([applier, 1, ['a']], ['kubelet', 2, ['b'], 'status'])), [
      applier,
    ]);
  });
});

describe('in an apply window', () => {
  it('the applier’s own write is an echo', () => {
    const book = newBook();
    opened(book);
    assert.equal(see(book, live([applier, 1, ['a']])), 'echo');
  });

  it('its write over an edit made after the mark is a collision, once', () => {
    const book = newBook();
    opened(book);
    assert.equal(see(book, live([applier, 1, ['b']], ['kubectl-edit', 5, ['a']])), 'edit');
    // Both in one second: the order is the stream's.
    assert.equal(see(book, live([applier, 5, ['a', 'b']])), 'collision');
    assert.equal(see(book, live([applier, 6, ['a', 'b']])), 'echo');
  });

  it('its write over an edit made before the mark is an echo: the revision holds that edit', () => {
    const book = newBook();
    const early = takeMark(book, far);
    assert.equal(see(book, live(['kubectl-edit', 5, ['a']])), 'edit');
    opened(book);
    dropMark(book, early);
    assert.equal(see(book, live([applier, 6, ['a']])), 'echo');
  });

  it('begins at the mark, not at the answer: an edit in between collides', () => {
    const book = newBook();
    const mark = takeMark(book, far);
    see(book, live(['kubectl-edit', 5, ['a']]));
    openWindow(book, mark, { holder: flux, revision: 'r1', until: far });
    assert.equal(see(book, live([applier, 6, ['a']])), 'collision');
  });

  it('a write together with anybody else is an edit', () => {
    const book = newBook();
    opened(book);
    assert.equal(see(book, live([applier, 5, ['a']], ['kubectl-edit', 5, ['b']])), 'edit');
  });

  it('a field that a person takes away is an edit, although only the applier’s entry is left', () => {
    const book = newBook();
    noteFound(book, { key: 'k', object: live([applier, 1, ['a', 'b']]), owner: flux }, 0);
    opened(book);
    assert.equal(see(book, live([applier, 1, ['a']])), 'edit');
    assert.equal(see(book, live([applier, 2, ['a', 'b']])), 'collision');
  });

  it('what a snapshot brings counts as an edit, whoever wrote it', () => {
    const book = newBook();
    opened(book);
    noteFound(book, { key: 'k', object: live([applier, 1, ['a']]), owner: flux }, 0);
    assert.equal(see(book, live([applier, 2, ['a', 'b']])), 'collision');
  });

  it('an object that was deleted and made again by the applier is its own', () => {
    const book = newBook();
    noteFound(book, { key: 'k', object: live([applier, 1, ['a']]), owner: flux }, 0);
    opened(book);
    forgetObject(book, 'k');
    assert.equal(see(book, live([applier, 1, ['a']])), 'echo');
  });

  it('a controller’s bookkeeping between edit and apply hides nothing', () => {
    const book = newBook();
    opened(book);
    see(book, live([applier, 1, ['b']], ['kubectl-edit', 5, ['a']]));
    const touched: Entry[] = [
      [applier, 1, ['b']],
      ['kubectl-edit', 5, ['a']],
      ['cert-manager', 6, ['c']],
    ];
    noteUnchanged(book, { key: 'k', object: live(...touched), owner: flux }, 0);
    assert.equal(see(book, live([applier, 7, ['a', 'b']], ['cert-manager', 6, ['c']])), 'collision');
  });

  it('objects of another applier and of nobody are edited as ever', () => {
    const book = newBook();
    opened(book);
    const object = live([applier, 1, ['a']]);
    assert.equal(judge(book, { key: 'k', object, owner: { ...flux, name: 'other' } }, 0), 'edit');
    assert.equal(judge(book, { key: 'k', object, owner: undefined }, 0), 'edit');
  });

  it('the applier re-creating what a person deleted collides', () => {
    const book = newBook();
    opened(book);
    noteDelete(book, 'k', 0);
    assert.equal(see(book, live([applier, 5, ['a']])), 'collision');
  });

  it('tells which revisions a disappearance may come from', () => {
    const book = newBook();
    const window = opened(book);
    assert.deepEqual(revisionsApplied(book, flux, 0), ['r1']);
    assert.deepEqual(revisionsApplied(book, { ...flux, name: 'other' }, 0), []);
    closeWindow(book, window);
    assert.deepEqual(revisionsApplied(book, flux, 0), []);
  });
});

describe('outside of apply windows', () => {
  it('everything is judged by its fields alone, and nothing is remembered', () => {
    const book = newBook();
    assert.equal(see(book, live([applier, 1, ['a']])), 'edit');
    assert.equal(book.noted.size, 0);
    closeWindow(book, opened(book));
    assert.equal(isIdle(book), true);
    assert.equal(see(book, live([applier, 1, ['a']])), 'edit');
  });

  it('a window ends by itself when its time is over', () => {
    const book = newBook();
    opened(book);
    assert.equal(judge(book, { key: 'k', object: live([applier, 1, ['a']]), owner: flux }, far), 'edit');
    assert.equal(book.noted.size, 0);
  });

  it('what is noted is bounded', () => {
    const book = newBook();
    opened(book);
    for (let n = 0; n < 20_100; n++) {
      judge(book, { key: `k${n}`, object: live(['kubectl-edit', 1, ['a']]), owner: flux }, 0);
    }
    assert.equal(book.noted.size, 20_000);
  });
});

describe('for any order of edits and applies', () => {
  it('a collision is told exactly when the newest write before it was an edit after the mark', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('edit', 'apply', 'mark'), { maxLength: 40 }), (steps) => {
        const book = newBook();
        const keep = takeMark(book, far);
        let window: number | undefined;
        let unsafe = false;
        let time = 1;
        for (const step of steps) {
          time += 1;
          if (step === 'mark') {
            if (window !== undefined) closeWindow(book, window);
            window = opened(book);
            unsafe = false;
          } else if (step === 'edit') {
            assert.equal(see(book, live([applier, 0, []], ['kubectl-edit', time, ['a']])), 'edit');
            unsafe = true;
          } else if (window !== undefined) {
            assert.equal(see(book, live([applier, time, ['a']])), unsafe ? 'collision' : 'echo');
            unsafe = false;
          }
        }
        dropMark(book, keep);
      }),
    );
  });
});
