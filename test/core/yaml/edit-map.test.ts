import { checkTriples, type Triple } from './edited.ts';

const triples: Triple[] = [
  {
    it: 'appends new keys after the last, sorted among themselves',
    before: 'b: 1\na: 2 # c\n',
    change: (v) => {
      v.z = 1;
      v.c = 2;
    },
    after: 'b: 1\na: 2 # c\nc: 2\nz: 1\n',
  },
  {
    it: 'appends to a nested map before what follows it',
    before: 'a:\n  b: 1\n\nc: 1\n',
    change: (v) => {
      v.a.x = 2;
    },
    after: 'a:\n  b: 1\n  x: 2\n\nc: 1\n',
  },
  {
    it: 'appends after a block of text',
    before: 'a:\n  b: |\n    x\n\nc: 1\n',
    change: (v) => {
      v.a.x = 2;
    },
    after: 'a:\n  b: |\n    x\n  x: 2\n\nc: 1\n',
  },
  {
    it: 'deletes a key with the comments directly above it',
    before: 'a: 1\n# about b\n# more\nb: 2 # two\nc: 3\n',
    change: (v) => {
      delete v.b;
    },
    after: 'a: 1\nc: 3\n',
  },
  {
    it: 'leaves a comment apart from the deleted key',
    before: 'a: 1\n# apart\n\nb: 2\nc: 3\n',
    change: (v) => {
      delete v.b;
    },
    after: 'a: 1\n# apart\n\nc: 3\n',
  },
  {
    it: 'leaves the head comment of the document',
    before: '# head\na: 1\nb: 2\n',
    change: (v) => {
      delete v.a;
    },
    after: '# head\nb: 2\n',
  },
  {
    it: 'deletes a nested map with everything in it',
    before: 'a: 1\nb:\n  c:\n    - d\n    # end of c\n  # end of b\ne: 1\n',
    change: (v) => {
      delete v.b;
    },
    after: 'a: 1\ne: 1\n',
  },
  {
    it: 'leaves one blank line where two entries were parted',
    before: 'a: 1\n\nb: 2\n\nc: 3\n',
    change: (v) => {
      delete v.b;
    },
    after: 'a: 1\n\nc: 3\n',
  },
  {
    it: 'keeps the gap of a group whose last member goes',
    before: 'a: 1\nb: 2\n\nc: 3\n',
    change: (v) => {
      delete v.b;
    },
    after: 'a: 1\n\nc: 3\n',
  },
  {
    it: 'leaves no blank line at the end of a map',
    before: 'a:\n  b: 1\n\n  c: 2\nd: 3\n',
    change: (v) => {
      delete v.a.c;
    },
    after: 'a:\n  b: 1\nd: 3\n',
  },
  {
    it: 'writes an emptied map as braces',
    before: 'a: # c\n  b: 1\nd: 2\n',
    change: (v) => {
      v.a = {};
    },
    after: 'a: {} # c\nd: 2\n',
  },
  {
    it: 'fills an empty map in block style',
    before: 'a: {} # c\nd: 2\n',
    change: (v) => {
      v.a = { x: 1, b: { c: 2 } };
    },
    after: 'a: # c\n  b:\n    c: 2\n  x: 1\nd: 2\n',
  },
  {
    it: 'fills an absent value with a map',
    before: 'a:\nd: 2\n',
    change: (v) => {
      v.a = { b: 1 };
    },
    after: 'a:\n  b: 1\nd: 2\n',
  },
  {
    it: 'replaces a map by a scalar',
    before: 'a: # c\n  b: 1\n  c: 2\nd: 2\n',
    change: (v) => {
      v.a = 'x';
    },
    after: 'a: x # c\nd: 2\n',
  },
  {
    it: 'replaces a scalar by a list',
    before: 'a: x # c\nd: 2\n',
    change: (v) => {
      v.a = ['y', { z: 1 }];
    },
    after: 'a: # c\n  - "y"\n  - z: 1\nd: 2\n',
  },
  {
    it: 'replaces every key',
    before: 'a: 1\nb: 2\n',
    change: (v) => {
      delete v.a;
      delete v.b;
      v.c = 3;
    },
    after: 'c: 3\n',
  },
  {
    it: 'follows an indentation of four',
    before: 'a:\n    b: 1\n',
    change: (v) => {
      v.a.c = { d: { e: 1 } };
    },
    after: 'a:\n    b: 1\n    c:\n        d:\n            e: 1\n',
  },
  {
    it: 'follows lists flush with their key',
    before: 'a:\n- x\nb: 1\n',
    change: (v) => {
      v.c = ['z'];
    },
    after: 'a:\n- x\nb: 1\nc:\n- z\n',
  },
  {
    it: 'keeps odd keys as they are written',
    before: "\"quoted\": 1\n'it''s': 2\na.b/c: 3\n1: 4\ny: 5\n",
    change: (v) => {
      v.quoted = 10;
      v["it's"] = 20;
      v['a.b/c'] = 30;
      v['1'] = 40;
      v.true = 50;
    },
    after: "\"quoted\": 10\n'it''s': 20\na.b/c: 30\n1: 40\ny: 50\n",
  },
  {
    it: 'quotes new keys that are not plain words',
    before: 'a: 1\n',
    change: (v) => {
      v.yes = 1;
      v['1'] = 2;
      v['k: v'] = 3;
      v['<<'] = 4;
      v['a.b/c'] = 5;
    },
    after: 'a: 1\n"1": 2\n"<<": 4\na.b/c: 5\n"k: v": 3\n"yes": 1\n',
  },
  {
    it: 'edits behind an explicit key',
    before: '? a\n: b\n? c\n:   - d\nx: 1\n',
    change: (v) => {
      v.a = 'e';
      v.c.push('f');
    },
    after: '? a\n: e\n? c\n:   - d\n    - f\nx: 1\n',
  },
  {
    it: 'changes nothing when nothing differs',
    before: 'a:   1\nb:    {x:   1}\n',
    change: () => undefined,
    after: 'a:   1\nb:    {x:   1}\n',
  },
];

describe('a changed map', () => checkTriples(triples));
