/**
 * What the built-in kinds are made of: keyed lists, sets, atomic maps, scalars that compare by value.
 *
 * A type node stands for one place in an object; stepping from node to node follows a path. Custom resources have nodes of
 * the same shape, made from their schema (`crd.ts`).
 */
import type { Json } from '../../json.ts';
import { typesTable } from './table.ts';

export type Meaning = 'exact' | 'quantity' | 'int-or-string' | 'duration';

export interface TypeNode {
  readonly meaning: Meaning;
  /** The whole map is one value. */
  readonly atomic: boolean;
  /** A map with free keys, not an object with fixed fields. */
  readonly map: boolean;
  /** Scalars in no particular order. */
  readonly set: boolean;
  /** The keys that pair the items of this list. */
  readonly listKeys: readonly string[] | undefined;
  /** What the server takes for an absent key. */
  readonly keyDefaults: Readonly<Record<string, Json>>;
  /** The value a CRD schema gives an absent field. */
  readonly initial: Json | undefined;
  /** An explicit null stays null (custom resources only). */
  readonly nullable: boolean;
  /** The members that a CRD schema gives a value. */
  readonly defaulted: readonly string[];
  /** The node of a member or an item; undefined when nothing is known about it. */
  step(key: string | number): TypeNode | undefined;
}

interface Parsed {
  readonly atomic: boolean;
  readonly container: 'list' | 'map' | undefined;
  readonly keys: readonly string[];
  /** The rest of the text: the item's or member's type, a scalar's name or a type's name. */
  readonly rest: string;
}

const meanings: ReadonlySet<string> = new Set<Meaning>(['quantity', 'int-or-string', 'duration']);
const plain = {
  map: false,
  set: false,
  listKeys: undefined,
  keyDefaults: {},
  initial: undefined,
  nullable: false,
  defaulted: [],
};
const nodes: ReadonlyMap<string, TypeNode> = allNodes();

/** The root node of a built-in kind, or undefined for a kind that is not built in. */
export function builtinType(apiVersion: string, kind: string): TypeNode | undefined {
  const name = typesTable.kinds[`${apiVersion}/${kind}`];
  return name === undefined ? undefined : nodes.get(name);
}

/** The node of any object's metadata. */
export function metadataType(): TypeNode | undefined {
  return nodes.get('meta.v1.ObjectMeta');
}

/** Nothing is known: every list is paired by `name` where its items have unique ones, every scalar is exact. */
export const genericType: TypeNode = {
  ...plain,
  atomic: false,
  meaning: 'exact',
  listKeys: ['name'],
  step: () => genericType,
};

/** The node at a path; undefined when nothing is known about it. */
export function typeAt(root: TypeNode | undefined, path: readonly (string | number)[]): TypeNode | undefined {
  let node = root;
  for (const step of path) {
    if (node === undefined) return undefined;
    node = node.step(step);
  }
  return node;
}

function allNodes(): Map<string, TypeNode> {
  const made = new Map<string, TypeNode>();
  const add = (text: string): void => {
    if (text === '' || made.has(text)) return;
    const parsed = parse(text);
    made.set(text, nodeOf(parsed, made));
    add(parsed.container === undefined ? '' : parsed.rest);
  };
  for (const [name, fields] of Object.entries(typesTable.types)) {
    add(name);
    for (const text of Object.values(fields)) add(text);
  }
  return made;
}

function nodeOf(parsed: Parsed, made: ReadonlyMap<string, TypeNode>): TypeNode {
  const { atomic, container, keys, rest } = parsed;
  if (container === 'map') {
    return {
      ...plain,
      map: true,
      atomic,
      meaning: 'exact',
      step: (key) => (typeof key === 'string' ? made.get(rest) : undefined),
    };
  }
  if (container === 'list') {
    return {
      ...plain,
      ...listFacts(keys),
      atomic,
      meaning: 'exact',
      step: (key) => (typeof key === 'number' ? made.get(rest) : undefined),
    };
  }
  if (isMeaning(rest)) return { ...plain, atomic, meaning: rest, step: () => undefined };
  const fields = new Map(Object.entries(typesTable.types[rest] ?? {}));
  return {
    ...plain,
    atomic,
    meaning: 'exact',
    step: (key) => (typeof key === 'string' ? made.get(fields.get(key) ?? '') : undefined),
  };
}

function listFacts(keys: readonly string[]): Pick<TypeNode, 'set' | 'listKeys' | 'keyDefaults'> {
  if (keys.length === 0) return plain;
  if (keys[0] === '=') return { ...plain, set: true };
  const pairs = keys.map((key) => key.split('='));
  return {
    set: false,
    listKeys: pairs.map(([key = '']) => key),
    keyDefaults: Object.fromEntries(
      pairs.filter(([, value]) => value !== undefined).map(([key = '', value = '']) => [key, value]),
    ),
  };
}

function parse(text: string): Parsed {
  const atomic = text.startsWith('!');
  const body = atomic ? text.slice(1) : text;
  if (body.startsWith('{}')) return { atomic, container: 'map', keys: [], rest: body.slice(2) };
  if (!body.startsWith('[')) return { atomic, container: undefined, keys: [], rest: body };
  const end = body.indexOf(']');
  const keys = body.slice(1, end);
  return { atomic, container: 'list', keys: keys === '' ? [] : keys.split(','), rest: body.slice(end + 1) };
}

function isMeaning(text: string): text is Meaning {
  return meanings.has(text);
}
