/**
 * What a document or a patch has to say so that the build gives the wanted value: three views of each field, its source, the
 * build's value and the wanted one. What the build added stays out of the source.
 */
import { isOrdered, type KindSchema } from '../intent/schema/index.ts';
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { keyFields, keyItems } from './keyed.ts';

/** The place of an edit that has no exact counterpart in the source. */
export class NoPlace extends Error {
  readonly path: Path;

  constructor(path: Path) {
    super('no place');
    this.path = path;
  }
}

type Maybe = Json | undefined;

/**
 * The source with the edits in it; undefined when it goes away.
 * @throws NoPlace when a list was edited whose items the build mixed in a way that cannot be undone.
 */
export function sourceForm(
  schema: KindSchema,
  path: Path,
  source: Maybe,
  built: Maybe,
  wanted: Maybe,
): Maybe {
  if (equalJson(built, wanted)) return source;
  if (equalJson(source, built)) return wanted;
  if (isObject(wanted) && (isObject(source) || isObject(built)))
    return mapForm(schema, path, source, built, wanted);
  if (Array.isArray(wanted) && (Array.isArray(source) || Array.isArray(built)))
    return listForm(schema, path, source, built, wanted);
  return wanted;
}

function mapForm(
  schema: KindSchema,
  path: Path,
  source: Maybe,
  built: Maybe,
  wanted: JsonObject,
): JsonObject | undefined {
  const own = isObject(source) ? source : {};
  const made = isObject(built) ? built : {};
  const result: JsonObject = {};
  const keys = new Set([...Object.keys(own), ...Object.keys(wanted), ...Object.keys(made)]);
  for (const key of keys) {
    const value = sourceForm(
      schema,
      [...path, key],
      member(own, key),
      member(made, key),
      member(wanted, key),
    );
    if (value !== undefined) result[key] = value;
  }
  return Object.keys(result).length === 0 && source === undefined ? undefined : result;
}

function listForm(
  schema: KindSchema,
  path: Path,
  source: Maybe,
  built: Maybe,
  wanted: readonly Json[],
): Json[] | undefined {
  const lists = [source, built].map((list) => (Array.isArray(list) ? list : []));
  const [own = [], made = []] = lists;
  const fields = keyFields(schema, path, [own, made, wanted]);
  const views = [own, made, wanted].map((list) => keyItems(schema, path, list, fields));
  const [sources, builds, wants] = views;
  if (sources === undefined || builds === undefined || wants === undefined) throw new NoPlace(path);
  const result: Json[] = [];
  for (const key of sources.keys) {
    const form = sourceForm(
      schema,
      [...path, 0],
      sources.items.get(key),
      builds.items.get(key),
      wants.items.get(key),
    );
    if (form !== undefined) result.push(form);
  }
  for (const key of wants.keys) {
    if (sources.items.has(key)) continue;
    const built = builds.items.get(key);
    const want = wants.items.get(key);
    if (built === undefined && want !== undefined) result.push(want);
    else if (!equalJson(built, want)) throw new NoPlace(path);
  }
  // An item that only the build has cannot be taken away here.
  if (builds.keys.some((key) => !sources.items.has(key) && !wants.items.has(key))) throw new NoPlace(path);
  return result.length === 0 && source === undefined ? undefined : result;
}

export function member(map: Maybe, key: string): Maybe {
  return isObject(map) && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Equal but for the order of lists where it means nothing. */
export function equalUnordered(schema: KindSchema, path: Path, a: Maybe, b: Maybe): boolean {
  if (equalJson(a, b)) return true;
  if (isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => equalUnordered(schema, [...path, key], member(a, key), member(b, key)));
  }
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  const fields = isOrdered(schema, path) ? undefined : keyFields(schema, path, [a, b]);
  const left = fields === undefined ? undefined : keyItems(schema, path, a, fields);
  const right = fields === undefined ? undefined : keyItems(schema, path, b, fields);
  if (left === undefined || right === undefined)
    return a.every((item, index) => equalUnordered(schema, [...path, index], item, b[index]));
  return left.keys.every((key) =>
    equalUnordered(schema, [...path, 0], left.items.get(key), right.items.get(key)),
  );
}
