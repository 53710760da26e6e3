import assert from 'node:assert/strict';
import { load } from 'js-yaml';
import { parse } from 'yaml';
import { readDocuments } from '../../../src/core/yaml/index.ts';
import { checkTriples, edit, type Triple } from './edited.ts';
import { hostileStrings } from './fuzz/mutate.ts';

const styles: Triple[] = [
  {
    it: 'keeps the comment and the spaces around a changed value',
    before: 'a:   1   # one\nb: 2\n',
    change: (v) => {
      v.a = 5;
    },
    after: 'a:   5   # one\nb: 2\n',
  },
  {
    it: 'keeps single quotes',
    before: "a: 'x'  # c\n",
    change: (v) => {
      v.a = "it's";
    },
    after: "a: 'it''s'  # c\n",
  },
  {
    it: 'gives up single quotes where only an escape will do',
    before: "a: 'x'\n",
    change: (v) => {
      v.a = 'a\tb';
    },
    after: 'a: "a\\tb"\n',
  },
  {
    it: 'keeps double quotes',
    before: 'a: "x"\n',
    change: (v) => {
      v.a = 'plain';
    },
    after: 'a: "plain"\n',
  },
  {
    it: 'keeps several lines in double quotes',
    before: 'a: "x"\n',
    change: (v) => {
      v.a = 'one\ntwo';
    },
    after: 'a: "one\\ntwo"\n',
  },
  {
    it: 'keeps plain text plain where it is safe',
    before: 'a: x\n',
    change: (v) => {
      v.a = 'y z --w:1';
    },
    after: 'a: y z --w:1\n',
  },
  {
    it: 'quotes plain text that is not safe',
    before: 'a: x\n',
    change: (v) => {
      v.a = 'yes';
    },
    after: 'a: "yes"\n',
  },
  {
    it: 'writes a number without the quotes of a string',
    before: 'a: "1"\n',
    change: (v) => {
      v.a = 2;
    },
    after: 'a: 2\n',
  },
  {
    it: 'writes a string in the quotes a number needs',
    before: 'a: 1\n',
    change: (v) => {
      v.a = '1';
    },
    after: 'a: "1"\n',
  },
  {
    it: 'writes long integers exactly',
    before: 'a: 1\n',
    change: (v) => {
      v.a = 9007199254740993n;
    },
    after: 'a: 9007199254740993\n',
  },
  {
    it: 'fills in an absent value',
    before: 'a:   # none\nb: 1\n',
    change: (v) => {
      v.a = 'x';
    },
    after: 'a: x   # none\nb: 1\n',
  },
  {
    it: 'writes null out',
    before: 'a: x # c\n',
    change: (v) => {
      v.a = null;
    },
    after: 'a: null # c\n',
  },
  {
    it: 'replaces text folded over lines',
    before: 'a: one\n  two  # c\nb: 1\n',
    change: (v) => {
      v.a = 'three';
    },
    after: 'a: three  # c\nb: 1\n',
  },
  {
    it: 'never folds a long line',
    before: 'a: x\n',
    change: (v) => {
      v.a = 'word '.repeat(60).trim();
    },
    after: `a: ${'word '.repeat(60).trim()}\n`,
  },
  {
    it: 'drops a tag that spoke of the old value',
    before: 'a: !!str 12\n',
    change: (v) => {
      v.a = 'x';
    },
    after: 'a: x\n',
  },
  {
    it: 'leaves other spellings of the same value alone',
    before: 'a: 0x1F\nb: 1e3\nc: yes\nd: 0777\ne: 1\n',
    change: (v) => {
      v.e = 2;
    },
    after: 'a: 0x1F\nb: 1e3\nc: yes\nd: 0777\ne: 2\n',
  },
  {
    it: 'takes a word that kustomize reads as a string for unchanged',
    before: 'a: yes\nb: [on, no]\n',
    change: (v) => {
      v.a = 'yes';
      v.b = ['on', 'no'];
    },
    after: 'a: yes\nb: [on, no]\n',
  },
  {
    it: 'quotes such a word when it changes',
    before: 'a: yes\n',
    change: (v) => {
      v.a = 'no';
    },
    after: 'a: "no"\n',
  },
];

const blocks: Triple[] = [
  {
    it: 'changes one line of a literal block',
    before: 'a: |\n  one  \n  \ttwo\n\n  three\nb: 1\n',
    change: (v) => {
      v.a = 'one  \n\tTWO\n\nthree\n';
    },
    after: 'a: |\n  one  \n  \tTWO\n\n  three\nb: 1\n',
  },
  {
    it: 'keeps white space on blank lines of a block',
    before: 'a: |\n  one\n  \n  two\n  x\n',
    change: (v) => {
      v.a = 'ONE\n\ntwo\ny\n';
    },
    after: 'a: |\n  ONE\n  \n  two\n  y\n',
  },
  {
    it: 'says in the header that the final newline went',
    before: 'a: |  # c\n  one\nb: 1\n',
    change: (v) => {
      v.a = 'one';
    },
    after: 'a: |-  # c\n  one\nb: 1\n',
  },
  {
    it: 'says in the header that a final newline came',
    before: 'a: |-\n  one\nb: 1\n',
    change: (v) => {
      v.a = 'one\n';
    },
    after: 'a: |\n  one\nb: 1\n',
  },
  {
    it: 'keeps a block whose text has one line',
    before: 'a: |\n  one\n  two\n',
    change: (v) => {
      v.a = 'one\n';
    },
    after: 'a: |\n  one\n',
  },
  {
    it: 'states the indentation when the first line hides it',
    before: 'a: |\n  one\n  two\n',
    change: (v) => {
      v.a = '  one\ntwo\n';
    },
    after: 'a: |2\n    one\n  two\n',
  },
  {
    it: 'keeps a stated indentation',
    before: 'a: |2-\n    one\n  two\n',
    change: (v) => {
      v.a = '  one\nthree';
    },
    after: 'a: |2-\n    one\n  three\n',
  },
  {
    it: 'keeps the blank lines of a block that keeps them',
    before: 'a: |+\n  one\n\nb: 1\n',
    change: (v) => {
      v.a = 'two\n\n';
    },
    after: 'a: |+\n  two\n\nb: 1\n',
  },
  {
    it: 'keeps blank lines below a block out of it',
    before: 'a: |\n  one\n\nb: 1\n',
    change: (v) => {
      v.a = 'one\ntwo\n';
    },
    after: 'a: |\n  one\n  two\n\nb: 1\n',
  },
  {
    it: 'writes a changed folded text as a literal block',
    before: 'a: >  # c\n  one\n  two\nb: 1\n',
    change: (v) => {
      v.a = 'one three\n';
    },
    after: 'a: |  # c\n  one three\nb: 1\n',
  },
  {
    it: 'leaves an unchanged folded text alone',
    before: 'a: >-\n  one\n  two\nb: 1\n',
    change: (v) => {
      v.b = 2;
    },
    after: 'a: >-\n  one\n  two\nb: 2\n',
  },
  {
    it: 'writes text of several lines as a literal block',
    before: 'a: x # c\nb: 1\n',
    change: (v) => {
      v.a = 'one\ntwo';
    },
    after: 'a: |- # c\n  one\n  two\nb: 1\n',
  },
  {
    it: 'quotes what a block cannot carry',
    before: 'a: |\n  one\nb: 1\n',
    change: (v) => {
      v.a = 'one\r\ntwo';
    },
    after: 'a: "one\\r\\ntwo"\nb: 1\n',
  },
  {
    it: 'quotes a text that ends in several newlines',
    before: 'a: |\n  one\nb: 1\n',
    change: (v) => {
      v.a = 'one\n\n\n';
    },
    after: 'a: "one\\n\\n\\n"\nb: 1\n',
  },
  {
    it: 'writes no block above a deeper comment, which would become text',
    before: 'a:\n  b: x\n      # deeper\nc: 1\n',
    change: (v) => {
      v.a.b = 'one\ntwo\n';
    },
    after: 'a:\n  b: "one\\ntwo\\n"\n      # deeper\nc: 1\n',
  },
  {
    it: 'changes a block in a list item',
    before: 'a:\n  - |\n    one\n    two\n  - x\n',
    change: (v) => {
      v.a[0] = 'one\n2\n';
    },
    after: 'a:\n  - |\n    one\n    2\n  - x\n',
  },
  {
    it: 'replaces a block by a number',
    before: 'a: | # c\n  one\nb: 1\n',
    change: (v) => {
      v.a = 3;
    },
    after: 'a: 3 # c\nb: 1\n',
  },
  {
    it: 'replaces a block that begins below its key',
    before: 'a:\n  | # c\n  one\nb: 1\n',
    change: (v) => {
      v.a = 3;
    },
    after: 'a:\n  3 # c\nb: 1\n',
  },
];

describe('a changed scalar', () => checkTriples(styles));
describe('a changed block of text', () => checkTriples(blocks));

describe('the text at the end of a file without a final newline', () => {
  const cut = 'a: 1\nb: |\n  text';

  it('stays as it is when something else changes', () => {
    const result = edit(cut, (v) => {
      v.a = 2;
    });
    assert.deepEqual(result, { ok: true, text: 'a: 2\nb: |\n  text', changed: true });
  });

  it('keeps its value when something comes after it', () => {
    const result = edit(cut, (v) => {
      v.c = 1;
    });
    assert.deepEqual(result, { ok: true, text: 'a: 1\nb: |-\n  text\nc: 1', changed: true });
  });

  it('gets an end of line when its value does', () => {
    const result = edit(cut, (v) => {
      v.b = 'text\n';
    });
    assert.deepEqual(result, { ok: true, text: 'a: 1\nb: |\n  text\n', changed: true });
  });
});

describe('every string we write', () => {
  const places: [string, string, (value: string) => (document: Record<string, unknown>) => void][] = [
    [
      'in place of plain text',
      'a: x\n',
      (value) => (document) => {
        document.a = value;
      },
    ],
    [
      'in place of single-quoted text',
      "a: 'x'\n",
      (value) => (document) => {
        document.a = value;
      },
    ],
    [
      'in place of a block',
      'a: |\n  x\nb: 1\n',
      (value) => (document) => {
        document.a = value;
      },
    ],
    [
      'in a list of brackets',
      'a: [x, z]\n',
      (value) => (document) => {
        document.a = [value, 'z'];
      },
    ],
    [
      'in a map of braces',
      'a: {x: 1}\n',
      (value) => (document) => {
        document.a = { x: 1, z: value };
      },
    ],
    [
      'as a list item',
      'a:\n- x\n',
      (value) => (document) => {
        document.a = ['x', value];
      },
    ],
    [
      'as a key',
      'a: 1\n',
      (value) => (document) => {
        document[value] = 1;
      },
    ],
    [
      'as a key in braces',
      '{a: 1}\n',
      (value) => (document) => {
        document[value] = 1;
      },
    ],
  ];
  for (const [name, before, change] of places)
    it(`${name} is a string to readers of YAML 1.1 and 1.2`, () => {
      for (const value of hostileStrings) {
        const result = edit(before, change(value));
        assert.ok(result.ok, `${JSON.stringify(value)} is refused`);
        const [document] = readDocuments(result.text);
        assert.ok(document?.kind === 'value');
        for (const version of ['1.1', '1.2'] as const)
          assert.deepEqual(
            parse(result.text, { version }),
            document.value,
            `yaml ${version}: ${result.text}`,
          );
        assert.deepEqual(load(result.text), document.value, `js-yaml: ${result.text}`);
      }
    });
});

describe('a string that is no text', () => {
  it('is refused', () => {
    const result = edit('a: x\n', (v) => {
      v.a = '\ud800';
    });
    assert.equal(!result.ok && result.reason, 'UnplaceableEdit');
  });
});
