import { checkTriples, type Triple } from './edited.ts';

const named =
  'l:\n  # about x\n  - name: x # ex\n    v: 1\n  - name: y\n    v: 2\n\n  # about z\n  - name: z\n    v: 3\nend: 1\n';

const paired: Triple[] = [
  {
    it: 'changes one value of a named item',
    before: named,
    change: (v) => {
      v.l[1].v = 5;
    },
    after: named.replace('v: 2', 'v: 5'),
  },
  {
    it: 'moves an item with its comments and no other',
    before: named,
    change: (v) => {
      v.l.push(v.l.shift());
    },
    after:
      'l:\n  - name: y\n    v: 2\n\n  # about z\n  - name: z\n    v: 3\n  # about x\n  - name: x # ex\n    v: 1\nend: 1\n',
  },
  {
    it: 'moves and changes an item at once',
    before: named,
    change: (v) => {
      v.l = [{ name: 'z', v: 9 }, v.l[0], v.l[1]];
    },
    after:
      'l:\n  # about z\n  - name: z\n    v: 9\n  # about x\n  - name: x # ex\n    v: 1\n  - name: y\n    v: 2\nend: 1\n',
  },
  {
    it: 'deletes a named item with its comment',
    before: named,
    change: (v) => {
      v.l.shift();
    },
    after: 'l:\n  - name: y\n    v: 2\n\n  # about z\n  - name: z\n    v: 3\nend: 1\n',
  },
  {
    it: 'inserts an item where it belongs',
    before: named,
    change: (v) => {
      v.l.splice(1, 0, { name: 'w', v: 0 });
    },
    after: named.replace('  - name: y', '  - name: w\n    v: 0\n  - name: y'),
  },
  {
    it: 'takes an item with another name for the same when nothing else changed',
    before: named,
    change: (v) => {
      v.l[1].name = 'why';
    },
    after: named.replace('name: y', 'name: why'),
  },
  {
    it: 'takes an item of nothing but a name for the same in its place',
    before: 'l:\n- name: a # one\n- name: b\n  # below b\n',
    change: (v) => {
      v.l[1].name = 'c';
    },
    after: 'l:\n- name: a # one\n- name: c\n  # below b\n',
  },
  {
    it: 'takes an item with another name and other fields for another',
    before: named,
    change: (v) => {
      v.l[0] = { name: 'w', v: 7 };
    },
    after: named.replace('  # about x\n  - name: x # ex\n    v: 1\n', '  - name: w\n    v: 7\n'),
  },
  {
    it: 'tells items apart by several keys',
    keys: ['port', 'protocol'],
    before: 'l:\n- port: 53\n  protocol: UDP # small\n  t: 1\n- port: 53\n  protocol: TCP # large\n  t: 1\n',
    change: (v) => {
      v.l[1].t = 5;
      v.l.reverse();
      v.l.reverse();
    },
    after: 'l:\n- port: 53\n  protocol: UDP # small\n  t: 1\n- port: 53\n  protocol: TCP # large\n  t: 5\n',
  },
  {
    it: 'pairs an item whose key lacks a part',
    keys: ['port', 'protocol'],
    before: 'l:\n- port: 53 # dns\n- port: 80 # web\n',
    change: (v) => {
      v.l = [{ port: 80, protocol: 'TCP' }, { port: 53 }];
    },
    after: 'l:\n- port: 80 # web\n  protocol: TCP\n- port: 53 # dns\n',
  },
  {
    it: 'falls back to likeness when the keys do not tell items apart',
    keys: ['k'],
    before: 'l:\n- k: 1\n  a: x # first\n- k: 1\n  a: y # second\n',
    change: (v) => {
      v.l.shift();
    },
    after: 'l:\n- k: 1\n  a: y # second\n',
  },
];

const plain: Triple[] = [
  {
    it: 'deletes an item of a plain list',
    before: 'l:\n  - a # one\n  - b # two\n  - c\n',
    change: (v) => {
      v.l.splice(1, 1);
    },
    after: 'l:\n  - a # one\n  - c\n',
  },
  {
    it: 'inserts at the start, in the middle and at the end',
    before: 'l:\n- b # two\n- d\nx: 1\n',
    change: (v) => {
      v.l = ['a', 'b', 'c', 'd', 'e'];
    },
    after: 'l:\n- a\n- b # two\n- c\n- d\n- e\nx: 1\n',
  },
  {
    it: 'changes an item in place',
    before: 'l:\n  -   a   # one\n  - b\n',
    change: (v) => {
      v.l[0] = 'c';
    },
    after: 'l:\n  -   c   # one\n  - b\n',
  },
  {
    it: 'moves equal items with their comments',
    before: 'l:\n  - a # one\n  - b # two\n  - c # three\n',
    change: (v) => {
      v.l = ['c', 'a', 'b'];
    },
    after: 'l:\n  - c # three\n  - a # one\n  - b # two\n',
  },
  {
    it: 'removes the blank line that parted the first item',
    before: 'l:\n  # old\n  - a\n\n  # new\n  - b\n',
    change: (v) => {
      v.l.shift();
    },
    after: 'l:\n  # new\n  - b\n',
  },
  {
    it: 'writes an emptied list as brackets',
    before: 'l: # c\n  - a\n  - b\nx: 1\n',
    change: (v) => {
      v.l = [];
    },
    after: 'l: [] # c\nx: 1\n',
  },
  {
    it: 'keeps a comment apart from the items of an emptied list',
    before: 'l:\n# apart\n\n  # about a\n  - a\nx: 1\n',
    change: (v) => {
      v.l = [];
    },
    after: 'l: []\n# apart\nx: 1\n',
  },
  {
    it: 'fills an empty list in block style',
    before: 'l: []\nx: 1\n',
    change: (v) => {
      v.l = ['a', ['b'], { c: 1, d: 2 }];
    },
    after: 'l:\n  - a\n  - - b\n  - c: 1\n    d: 2\nx: 1\n',
  },
  {
    it: 'edits lists inside dashes',
    before: 'l:\n- - a\n  - b\n- - - c\n',
    change: (v) => {
      v.l[0].shift();
      v.l[0].push('d');
      v.l[1][0].push('e');
    },
    after: 'l:\n- - b\n  - d\n- - - c\n    - e\n',
  },
  {
    it: 'inserts before an item on the line of an outer dash',
    before: 'l:\n- - a\n',
    change: (v) => {
      v.l[0].unshift('b');
    },
    after: 'l:\n- - b\n  - a\n',
  },
  {
    it: 'deletes the key that shares its line with the dash',
    before: 'l:\n-   a: 1\n    b: 2\n- c\n',
    change: (v) => {
      delete v.l[0].a;
    },
    after: 'l:\n-   b: 2\n- c\n',
  },
  {
    it: 'keeps a comment below the key that shared its line with the dash',
    before: 'l:\n- a: 1\n  # about b\n  b: 2\n',
    change: (v) => {
      delete v.l[0].a;
    },
    after: 'l:\n- # about b\n  b: 2\n',
  },
  {
    it: 'follows the odd spacing of the dashes',
    before: 'l:\n  -   a: 1\n      b: 2\n',
    change: (v) => {
      v.l.push({ c: 3, d: 4 });
    },
    after: 'l:\n  -   a: 1\n      b: 2\n  -   c: 3\n      d: 4\n',
  },
  {
    it: 'fills an item without a value',
    before: 'l:\n-\n- x\n',
    change: (v) => {
      v.l[0] = 'y z';
    },
    after: 'l:\n- y z\n- x\n',
  },
  {
    it: 'replaces an item by a map',
    before: 'l:\n- a # c\n- x\n',
    change: (v) => {
      v.l[0] = { b: 1, c: 2 };
    },
    after: 'l:\n- # c\n  b: 1\n  c: 2\n- x\n',
  },
  {
    it: 'keeps different list styles of one document',
    before: 'a:\n- x\nb:\n  - y1\n  - z\n',
    change: (v) => {
      v.a.push('q');
      v.b.push('q');
    },
    after: 'a:\n- x\n- q\nb:\n  - y1\n  - z\n  - q\n',
  },
  {
    it: 'leaves a commented-out item at the end of the list',
    before: 'l:\n  - a\n  # - b\nx: 1\n',
    change: (v) => {
      v.l[0] = 'c';
    },
    after: 'l:\n  - c\n  # - b\nx: 1\n',
  },
];

describe('a list whose items have names or keys', () => checkTriples(paired));
describe('a list without names', () => checkTriples(plain));
