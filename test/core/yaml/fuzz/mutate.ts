/** Random changes of a JSON value: what people and controllers do to objects, with values that are hard to write as YAML. */
import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts';
import type { Random } from './random.ts';

export const hostileStrings: readonly string[] = [
  ...[
    'plain',
    'two words',
    '',
    ' lead',
    'trail ',
    '\ttab',
    'in\tside',
    'a: b',
    'a:b',
    'a:',
    ':a',
    'a #b',
    '#x',
    'a#b',
  ],
  ...[
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'N',
    'true',
    'False',
    'null',
    '~',
    'Null',
    '=',
    '<<',
    '---',
    '...',
    '--- a',
    '-',
    '- a',
  ],
  ...[
    '0777',
    '0o17',
    '0x1F',
    '0b11',
    '1_000',
    '+12',
    '1e3',
    '1.5',
    '.5',
    '1.',
    '.inf',
    '-.INF',
    '.nan',
    '12:30:00',
    '1:20',
  ],
  ...[
    '2020-01-01',
    '2020-01-01T00:00:00Z',
    '1.2.3',
    '10m',
    '1,000',
    '123e456',
    '08',
    '9007199254740993',
    '-0',
    '1__0',
  ],
  ...[
    '--flag=x',
    '-x',
    '--',
    '?',
    '? a',
    '?a',
    '!tag',
    '&a',
    '*a',
    '@a',
    '`a',
    '%a',
    '|',
    '>',
    '"q"',
    "it's",
    "'",
    '"',
    '\\',
  ],
  ...[
    '{a: b}',
    '[a]',
    '{{ .x }}',
    '$'.concat('{VAR}'),
    'a, b',
    'a]',
    '}',
    'http://x:80/?a=b#c',
    'C:\\p',
    'é☃',
    '😀',
    'a\u00a0b',
    '\u00a0',
  ],
  ...[
    'x\u2028y',
    'x\u2029',
    'x\u0085y',
    '\ufeffx',
    'x\u007f',
    '\u0000',
    'bell\u0007',
    'cr\rlf',
    'a\r\nb',
    '\n',
    '\n\n',
    ' \n',
  ],
  ...[
    'multi\nline',
    'multi\nline\n',
    'keep\n\n\n',
    '  lead\nx\n',
    '\n\nblank first\n',
    'a\n\n\nb\n',
    'trailing \nspaces  \n',
  ],
  ...[
    'tab\n\tindented\n',
    '\tfirst\nsecond\n',
    'x\n  ',
    '# comment\nno: comment\n',
    '---\na: b\n',
    '- a\n- b',
    'a\n   \nb\n',
    'x\n#',
  ],
  'word '.repeat(60).trim(),
  'x'.repeat(300),
];

const otherValues: readonly Json[] = [
  ...[
    0,
    1,
    -7,
    2.5,
    1e21,
    1e-7,
    123456789,
    9007199254740993n,
    -9007199254740995n,
    18446744073709551615n,
    true,
    false,
    null,
  ],
  ...[
    {},
    [],
    { k: 'v' },
    { k: { l: [1, 'two', { m: null }] } },
    ['a', 'b'],
    [['a'], ['b', 'c']],
    [{ name: 'n1', v: 1 }],
  ],
  [{ name: 'n1' }, { name: 'n2', text: 'multi\nline\n' }],
];

export function randomValue(random: Random): Json {
  const value = random.chance(0.6)
    ? random.pick(hostileStrings)
    : otherValues[random.below(otherValues.length)];
  return structuredClone(value ?? null);
}

const strangeKeys = [
  'zz',
  'a.b/c',
  'yes',
  '1',
  'with space',
  'q"',
  '',
  'true',
  'k: v',
  '#k',
  'x-é',
  '0777',
  '<<',
  'null',
];

/** Makes one to three random changes in place and names them. */
export function mutate(value: JsonObject, random: Random): string[] {
  const names: string[] = [];
  for (let count = 1 + random.below(3); count > 0; count -= 1) names.push(mutateOnce(value, random));
  return names;
}

/** Changes exactly one scalar to another scalar, and tells where; undefined when there is none. */
export function mutateScalar(value: JsonObject, random: Random): (string | number)[] | undefined {
  const places = scalarPlaces(value);
  if (places.length === 0) return undefined;
  const place = random.pick(places);
  const fresh = random.chance(0.75)
    ? random.pick(hostileStrings)
    : random.pick<Json>([3, 0.5, true, false, 7n]);
  place.set(fresh);
  return place.path;
}

interface Place {
  path: (string | number)[];
  set(value: Json): void;
}

function scalarPlaces(root: Json): Place[] {
  const places: Place[] = [];
  const walk = (value: Json, path: (string | number)[], set: (value: Json) => void): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries())
        walk(item, [...path, index], (fresh) => {
          value[index] = fresh;
        });
    } else if (isObject(value)) {
      for (const key of Object.keys(value))
        walk(value[key] ?? null, [...path, key], (fresh) => {
          value[key] = fresh;
        });
    } else places.push({ path, set });
  };
  walk(root, [], () => undefined);
  return places;
}

function mutateOnce(root: JsonObject, random: Random): string {
  const maps: JsonObject[] = [];
  const lists: Json[][] = [];
  const collect = (value: Json): void => {
    if (Array.isArray(value)) {
      if (value.length > 0) lists.push(value);
      value.forEach(collect);
    } else if (isObject(value)) {
      maps.push(value);
      Object.values(value).forEach(collect);
    }
  };
  collect(root);
  if (lists.length > 0 && random.chance(0.45)) return mutateList(random.pick(lists), random);
  const map = random.pick(maps);
  const keys = Object.keys(map);
  if (keys.length === 0 || random.chance(0.3)) {
    const key = random.chance(0.6) ? `zz${random.below(99)}` : random.pick(strangeKeys);
    map[key] = randomValue(random);
    return 'add key';
  }
  const key = random.pick(keys);
  const text = map[key];
  if (typeof text === 'string' && /\n./.test(text) && random.chance(0.7)) {
    map[key] = changeOneLine(text, random);
    return 'change one line';
  }
  if (random.chance(0.3) && keys.length > 1) {
    delete map[key];
    return 'delete key';
  }
  map[key] = randomValue(random);
  return 'set value';
}

function changeOneLine(text: string, random: Random): string {
  const lines = text.split('\n');
  const at = random.below(lines.length - 1);
  lines[at] = `${lines[at]?.trimEnd()} changed`;
  return lines.join('\n');
}

function mutateList(list: Json[], random: Random): string {
  const at = random.below(list.length);
  switch (random.below(6)) {
    case 0:
      list.push(random.chance(0.5) ? structuredClone(list[0] ?? null) : randomValue(random));
      return 'append item';
    case 1:
      list.splice(at, 1);
      return 'delete item';
    case 2:
      list[at] = randomValue(random);
      return 'set item';
    case 3:
      list.splice(at, 0, randomValue(random));
      return 'insert item';
    case 4: {
      const moved = list.splice(at, 1);
      list.splice(random.below(list.length + 1), 0, ...moved);
      return 'move item';
    }
    default:
      list.reverse();
      return 'reverse list';
  }
}
