import { checkTriples, type Triple } from './edited.ts';

const triples: Triple[] = [
  {
    it: 'changes a value and keeps odd spaces',
    before: 'a: {b:  1,   c: x }  # c\n',
    change: (v) => {
      v.a.b = 2;
    },
    after: 'a: {b:  2,   c: x }  # c\n',
  },
  {
    it: 'adds and deletes pairs',
    before: 'a: {b: 1, c: 2, d: 3}\n',
    change: (v) => {
      delete v.a.c;
      v.a.x = 'y z';
    },
    after: 'a: {b: 1, d: 3, x: y z}\n',
  },
  {
    it: 'keeps the padding of braces',
    before: 'a: { b: 1 }\n',
    change: (v) => {
      v.a.c = { d: 2 };
    },
    after: 'a: { b: 1, c: { d: 2 } }\n',
  },
  {
    it: 'adds, deletes and moves items',
    before: 'a: [x, "y", z]\n',
    change: (v) => {
      v.a = ['z', 'x', 'n, m'];
    },
    after: 'a: [z, x, "n, m"]\n',
  },
  {
    it: 'deletes the first and the last item',
    before: 'a: [x, y1, z]\n',
    change: (v) => {
      v.a = ['y1'];
    },
    after: 'a: [y1]\n',
  },
  {
    it: 'empties brackets and braces',
    before: 'a: [x]\nb: { c: 1 }\n',
    change: (v) => {
      v.a = [];
      v.b = {};
    },
    after: 'a: []\nb: {}\n',
  },
  {
    it: 'quotes as the other items do',
    before: 'a: ["x", "y"]\n',
    change: (v) => {
      v.a.push('z');
    },
    after: 'a: ["x", "y", "z"]\n',
  },
  {
    it: 'fills absent values',
    before: 'a: {b, c: , d: 1}\n',
    change: (v) => {
      v.a.b = 1;
      v.a.c = 2;
    },
    after: 'a: {b: 1, c: 2 , d: 1}\n',
  },
  {
    it: 'changes values in brackets over several lines with comments',
    before: 'a: [\n  x, # one\n  y1  # two\n]\n',
    change: (v) => {
      v.a[1] = 'z';
    },
    after: 'a: [\n  x, # one\n  z  # two\n]\n',
  },
  {
    it: 'adds items to brackets over several lines',
    before: 'a: [\n  x,\n  y1,\n]\n',
    change: (v) => {
      v.a.push('z');
    },
    after: 'a: [\n  x,\n  y1,\n  z,\n]\n',
  },
  {
    it: 'deletes an item with its own comment only',
    before: 'a: [\n  x, # one\n  # about y\n  y1, # two\n  z # three\n]\n',
    change: (v) => {
      v.a.splice(1, 1);
    },
    after: 'a: [\n  x, # one\n  z # three\n]\n',
  },
  {
    it: 'adds items below a comment that speaks of another',
    before: 'a: [\n  x, # one\n  z # three\n]\n',
    change: (v) => {
      v.a = ['x', 'w', 'z', 'q'];
    },
    after: 'a: [\n  x, # one\n  w,\n  z, # three\n  q\n]\n',
  },
  {
    it: 'writes a list in block style where a comment leaves no place to splice',
    before: 'a: [x, # one\n  y1, z]\n',
    change: (v) => {
      v.a.shift();
    },
    after: 'a:\n  - y1\n  - z\n',
  },
  {
    it: 'keeps a pair without braces',
    before: 'a: [b: 1, c]\n',
    change: (v) => {
      v.a[0].b = 2;
    },
    after: 'a: [b: 2, c]\n',
  },
  {
    it: 'writes text of several lines in quotes',
    before: 'a: [x]\n',
    change: (v) => {
      v.a[0] = 'one\ntwo\n';
    },
    after: 'a: ["one\\ntwo\\n"]\n',
  },
  {
    it: 'keeps JSON as JSON',
    before: '{\n  "a": 1,\n  "b": {"c": ["x"]},\n  "d": {}\n}\n',
    change: (v) => {
      v.a = 'one';
      v.b.c.push('y');
      v.d = { e: null };
      v.z = true;
    },
    after: '{\n  "a": "one",\n  "b": {"c": ["x", "y"]},\n  "d": {"e": null},\n  "z": true\n}\n',
  },
  {
    it: 'keeps compact JSON compact',
    before: '{"a":1,"b":[1,2]}\n',
    change: (v) => {
      v.b.push(3);
      v.c = 'x';
    },
    after: '{"a":1,"b":[1,2,3],"c": "x"}\n',
  },
];

describe('a changed flow collection', () => checkTriples(triples));
