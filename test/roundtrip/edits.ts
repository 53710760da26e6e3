/** The live edits a person could make to an object: one stated scalar, one new entry, one entry less. */
import { kindSchema } from '../../src/core/intent/schema/index.ts';
import { type Json, type JsonObject, type Path, valueAt } from '../../src/core/json.ts';
import { isUnowned } from '../../src/core/sanitize/index.ts';
import type { Random } from '../core/yaml/fuzz/random.ts';
import type { Manifest } from './manifests.ts';
import { type Stated, statedIn } from './stated.ts';

export type EditKind = 'change' | 'add' | 'remove';

export interface LiveEdit {
  readonly kind: EditKind;
  /** The field in the live object and in the document; for `add` the new one. */
  readonly path: Path;
  readonly patch: readonly JsonObject[];
  /** The stated places the edit is about, innermost first: for `add` the maps and lists around the new entry. */
  readonly stated: readonly Stated[];
}

/** Candidates in random order; the server decides which of them one may make. */
export function candidateEdits(
  kind: EditKind,
  text: string,
  manifest: Manifest,
  live: JsonObject,
  random: Random,
): LiveEdit[] {
  const stated = statedIn(text, manifest);
  switch (kind) {
    case 'change':
      return shuffled(
        editable(stated, manifest, live)
          .filter((place) => place.kind === 'scalar' && !isKey(manifest, place.path))
          .flatMap((place) => changesOf(place, stated, manifest, live)),
        random,
      );
    case 'remove':
      return shuffled(editable(stated, manifest, live), random).map((place) => ({
        kind,
        path: place.path,
        patch: [{ op: 'remove', path: pointer(livePath(manifest, place.path)) }],
        stated: around(stated, place),
      }));
    case 'add':
      return shuffled(additions(stated, manifest, live), random);
  }
}

/** What is stated, shown by the live object at the same path, and neither the object's name nor the server's business. */
function editable(stated: readonly Stated[], { value }: Manifest, live: JsonObject): Stated[] {
  return stated.filter(({ path }) => {
    const [top, second] = path;
    if (top === 'apiVersion' || top === 'kind' || isUnowned(value, path)) return false;
    if (top === 'metadata' && (path.length === 1 || second === 'name' || second === 'namespace'))
      return false;
    return top === 'stringData' ? path.length === 2 : valueAt(live, path) !== undefined;
  });
}

function changesOf(place: Stated, all: readonly Stated[], manifest: Manifest, live: JsonObject): LiveEdit[] {
  const { path } = place;
  const isPlain = path[0] === 'stringData';
  const now = isPlain ? valueAt(manifest.value, path) : valueAt(live, path);
  return othersThan(now ?? null).map((value) => {
    const sent = isPlain ? Buffer.from(String(value)).toString('base64') : value;
    return {
      kind: 'change',
      path,
      patch: [{ op: 'replace', path: pointer(livePath(manifest, path)), value: sent }],
      stated: around(all, place),
    };
  });
}

/** What tells list items apart: with another one it is another item. */
function isKey({ value }: Manifest, path: Path): boolean {
  const schema = kindSchema(String(value.apiVersion), String(value.kind));
  return (schema.listKeys(path.slice(0, -2)) ?? []).includes(String(path.at(-1)));
}

/** Other values of the same type. */
function othersThan(value: Json): Json[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return Number.isInteger(value) ? [value + 1, value - 1] : [value / 2];
  if (typeof value === 'bigint') return [value + 1n];
  if (typeof value !== 'string') return [];
  const nextNumber = (digits: string) => String((BigInt(digits) + 1n) % 10n ** BigInt(digits.length));
  const texts = [
    `${value}x`,
    value.replace(/\d+/, nextNumber),
    'yes',
    '0017',
    `${value} # no comment`,
    `${value}\nmore`,
    Buffer.from(`${value}, edited`).toString('base64'),
  ];
  return texts.filter((text) => text !== value);
}

const newKey = 'edited-by-hand';
const mapsToGrow: readonly Path[] = [
  ['metadata', 'labels'],
  ['metadata', 'annotations'],
  ['data'],
  ['spec', 'template', 'metadata', 'annotations'],
];

function additions(all: readonly Stated[], manifest: Manifest, live: JsonObject): LiveEdit[] {
  const isSecret = manifest.id.kind === 'Secret';
  const maps = mapsToGrow.flatMap((map): LiveEdit[] => {
    const [top] = map;
    if (top === 'data' && manifest.id.kind !== 'ConfigMap' && !isSecret) return [];
    if (top === 'spec' && valueAt(live, ['spec', 'template', 'spec', 'containers']) === undefined) return [];
    const value = isSecret && top === 'data' ? Buffer.from('yes').toString('base64') : 'yes';
    const isThere = valueAt(live, map) !== undefined;
    const path = isThere ? [...map, newKey] : map;
    // A Secret whose author writes plain text goes on in plain text.
    const isPlain = isSecret && top === 'data' && !all.some((one) => samePath(one.path, map));
    const written = isPlain ? ['stringData'] : map;
    return [
      {
        kind: 'add',
        path: [...written, newKey],
        patch: [{ op: 'add', path: pointer(path), value: isThere ? value : { [newKey]: value } }],
        stated: holding(all, written),
      },
    ];
  });
  return [...maps, ...newVariable(all, live)];
}

/** One more environment variable of the first container. */
function newVariable(all: readonly Stated[], live: JsonObject): LiveEdit[] {
  const containers: Path = ['spec', 'template', 'spec', 'containers'];
  if (valueAt(live, [...containers, 0]) === undefined) return [];
  const list = [...containers, 0, 'env'];
  const variables = valueAt(live, list);
  const variable = { name: 'EDITED', value: 'by hand' };
  const count = Array.isArray(variables) ? variables.length : undefined;
  const place = count === undefined ? list : [...list, '-'];
  return [
    {
      kind: 'add',
      path: [...list, count ?? 0],
      patch: [{ op: 'add', path: pointer(place), value: count === undefined ? [variable] : variable }],
      stated: holding(all, list),
    },
  ];
}

/** The place and what it stands in, as far as the document states them. */
function holding(all: readonly Stated[], path: Path): Stated[] {
  return path.flatMap((_step, index) => {
    const outer = path.slice(0, path.length - index);
    return all.filter((one) => samePath(one.path, outer));
  });
}

/** The place and all that it alone fills, innermost first. */
function around(all: readonly Stated[], place: Stated): Stated[] {
  const outer = all.find((one) => samePath(one.path, place.path.slice(0, -1)));
  return outer !== undefined && outer.size === 1 ? [place, ...around(all, outer)] : [place];
}

/** The server keeps a Secret's `stringData` in `data`. */
export function livePath({ id }: Manifest, path: Path): Path {
  return id.kind === 'Secret' && path[0] === 'stringData' ? ['data', ...path.slice(1)] : path;
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

/** As JSON Patch names it. */
function pointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const order = items.map((item) => ({ item, rank: random.next() }));
  return order.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}
