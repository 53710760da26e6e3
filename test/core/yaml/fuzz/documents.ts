/** The documents the fuzz test edits: hand-written ones in every style we know, and the shared corpora when they are there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const shared = fileURLToPath(new URL('../../../../../shared/corpora', import.meta.url));
// Another folder may be named, to try the editor on other repositories.
const corpora = process.env.FUZZ_FOLDER ?? shared;

export interface Source {
  name: string;
  text: string;
}

/** The YAML files of the shared corpora; undefined when they are absent. */
export function corporaFiles(): Source[] | undefined {
  if (!existsSync(corpora)) return undefined;
  return readdirSync(corpora, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(corpora, name), 'utf8') }));
}

/** Ways a file may be stored; each must survive an edit. */
export const variants: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  CRLF: (text) => text.replace(/\r?\n/g, '\r\n'),
  BOM: (text) => `\uFEFF${text.replace(/^\uFEFF/, '')}`,
  'no final newline': (text) => text.replace(/\s+$/, ''),
};

const fourSpaces = `# house style of the shop team
apiVersion: apps/v1
kind: Deployment
metadata:
    name: 'web'     # single quotes
    labels: { app: web, "tier": 'front' }


spec:
    replicas: 2   # raised by hand

    # how pods are found
    selector:
        matchLabels: {app: web}
    template:
        spec:
            containers:
            # the shop itself
            -   name: web
                image: "registry.example.test/shop/web:1.2.3"
                args: [ "--port", "8080", --verbose ]
                env:
                -   name: A
                    value: "1"   # first
                # about B
                -   name: B
                    value: 'two'

                -   name: C
                    valueFrom: {secretKeyRef: {name: s, key: k}}
            # the proxy
            -   name: proxy
                ports:
                -   {name: http, containerPort: 80}
                -   {name: admin, containerPort: 81}   # keep closed
            # - name: disabled
            #   image: none
`;

const flushLists = `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  annotations:
    note: >-
      folded text over
      several lines

      and paragraphs
    empty:
    quoted: "a \\"b\\" \\u00e9"
data:
  script.sh: |
    #!/bin/sh
    set -e   
    \techo tab

    echo done
  keep: |+
    kept

  strip: |-
    no end
  indented: |2
      two more
    than the rest
  number: "42"
  off: "off"
list:
- a
- "b"
- 'c'   # third

- d: 1
  e: 2
- - nested
  - list
- - - deep
-
- null
- ~
other:
- name: x
  v: |
    text of x
- name: y
  v: plain
# the end
`;

const jsonDocument = `{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {"name": "json", "labels": {"a": "b"}},
  "data": {
    "one": "1",
    "two": "two words",
    "list": [
      "x",
      "y"
    ],
    "empty": {},
    "none": []
  }
}
`;

const flowStyles = `kind: Flow
one: {a: 1, b: [x, "y", 'z'], c: {d: e}}
padded: { a: 1, b: 2 }
list: [a, b, {c: d}]
spread: [
  first,
  second,   # with a comment
  third
]
map: {
  k: v,
  l: [1, 2],
}
bare: {a, b: , "c": 3}
pairs: [a: 1, b]
wrapped: "a text
  over lines"
plain: words that
  go on
`;

const several = `# first comment
%s
apiVersion: v1
kind: A
spec: {a: b}
...
---  # second
kind: B
spec:
  x: 1   # one
  # about y
  y:
    - p
    - q

  z: last
---
kind: C
? explicit
: value
? other
:   - a
    - b
"quoted key": 1
'it''s': 2
1: number key
`;

const anchors = `kind: Anchors
base: &base
  a: 1
  b: [x, y]
copy: *base
list:
  - &item {n: 1}
  - *item
  - c
name: &n text
same: *n
`;

const versioned = `%YAML 1.1
---
kind: Versioned
on: yes
mode: 0777
values: [yes, no, 1_000, 12:30:00, 2020-01-01, ~]
tagged: !!str 12
map: !!map
  a: !!int 3
`;

/** Hand-written documents, one per way of writing. */
export const styleDocuments: readonly Source[] = [
  { name: 'four spaces', text: fourSpaces },
  { name: 'flush lists', text: flushLists },
  { name: 'JSON', text: jsonDocument },
  { name: 'compact JSON', text: '{"kind":"J","a":[1,2,{"b":"c"}],"d":{"e":"f"}}\n' },
  { name: 'flow styles', text: flowStyles },
  { name: 'several documents', text: several.replace('%s\n', '') },
  { name: 'anchors', text: anchors },
  { name: 'version directive', text: versioned },
];
