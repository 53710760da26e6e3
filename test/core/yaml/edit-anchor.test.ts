import assert from 'node:assert/strict';
import { checkTriples, edit, type Triple } from './edited.ts';

const triples: Triple[] = [
  {
    it: 'edits beside an anchor',
    before: 'a: &x {b: 1}\nc: *x\nd: 1\n',
    change: (v) => {
      v.d = 2;
    },
    after: 'a: &x {b: 1}\nc: *x\nd: 2\n',
  },
  {
    it: 'edits an anchored value when every alias is to follow',
    before: 'a: &x\n  b: 1\nc: *x\n',
    change: (v) => {
      v.a.b = 2;
      v.c.b = 2;
    },
    after: 'a: &x\n  b: 2\nc: *x\n',
  },
  {
    it: 'writes out the alias that is not to follow',
    before: 'a: &x 1\nc: *x # c\nd: *x\n',
    change: (v) => {
      v.a = 2;
      v.d = 2;
    },
    after: 'a: &x 2\nc: 1 # c\nd: *x\n',
  },
  {
    it: 'changes an alias alone',
    before: 'a: &x {b: 1}\nc: *x\nd: *x\n',
    change: (v) => {
      v.c.b = 2;
    },
    after: 'a: &x {b: 1}\nc:\n  b: 2\nd: *x\n',
  },
  {
    it: 'writes out the aliases of an anchor that goes',
    before: 'a: &x 1\nb: *x\nc: 2\n',
    change: (v) => {
      delete v.a;
    },
    after: 'b: 1\nc: 2\n',
  },
  {
    it: 'deletes an alias',
    before: 'a: &x 1\nb: *x\n',
    change: (v) => {
      delete v.b;
    },
    after: 'a: &x 1\n',
  },
  {
    it: 'edits an anchor no alias uses',
    before: 'a: &x 1\nb: 2\n',
    change: (v) => {
      v.a = 'y z';
    },
    after: 'a: &x y z\nb: 2\n',
  },
];

describe('anchors and aliases', () => {
  checkTriples(triples);

  const refused: [string, string, RegExp][] = [
    ['a merge key', 'a: &x {b: 1}\nc:\n  <<: *x\n', /merge key/],
    ['a key that stands twice', 'a: 1\na: 2\n', /twice/],
    ['a local tag', 'a: !x 1\n', /tag/],
    ['an unrendered template', 'a: {{ .x }}\n', /template/],
  ];
  for (const [name, before, message] of refused)
    it(`refuses to edit a document with ${name}, and says why`, () => {
      const result = edit(before, (v) => {
        v.z = 1;
      });
      assert.ok(!result.ok && result.reason === 'NotEditable');
      assert.match(result.message, message);
    });

  it('has nothing to refuse when such a document already holds the value', () => {
    const before = 'a: &x {b: 1}\nc:\n  <<: *x\n';
    assert.deepEqual(
      edit(before, () => undefined),
      { ok: true, text: before, changed: false },
    );
  });
});
