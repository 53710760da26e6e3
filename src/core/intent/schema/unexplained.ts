/**
 * Walks a live object beside its manifest and names every place where they differ and the server is not the reason.
 */
import { isObject, type Json, type JsonObject, type Path } from '../../json.ts';
import { isOrdered } from './equal.ts';
import type { KindSchema } from './kind-schema.ts';
import { pairItems } from './pairing.ts';

interface Walk {
  readonly schema: KindSchema;
  readonly live: JsonObject;
  readonly document: JsonObject;
  readonly found: Path[];
}

interface Place {
  readonly path: Path;
  readonly documentPath: Path;
}

/**
 * Paths that `live` has and the document lacks and nothing explains, paths whose values differ, and paths that only the
 * document has (list items of the document at their position there, after the live ones). Status is not looked at.
 */
export function unexplained(live: JsonObject, document: JsonObject, schema: KindSchema): Path[] {
  const walk: Walk = { schema, live, document, found: [] };
  const { status: _live, ...ours } = live;
  const { status: _document, ...theirs } = document;
  walkObjects(walk, { path: [], documentPath: [] }, ours, theirs);
  return walk.found;
}

function walkValues(walk: Walk, place: Place, live: Json, stated: Json): void {
  const before = walk.found.length;
  if (isObject(live) && isObject(stated)) walkObjects(walk, place, live, stated);
  else if (isFilled(live) && Array.isArray(stated)) walkLists(walk, place, live, stated);
  else if (!readsBack(walk, place.path, stated, live)) walk.found.push(place.path);
  // The server may have replaced the whole container.
  const differs = walk.found.length > before && typeof live === 'object';
  if (differs && readsBack(walk, place.path, stated, live)) walk.found.length = before;
}

function isFilled(value: Json): value is Json[] {
  return Array.isArray(value) && value.length > 0;
}

function walkObjects(walk: Walk, { path, documentPath }: Place, live: JsonObject, stated: JsonObject): void {
  for (const [key, value] of Object.entries(live)) {
    const place = { path: [...path, key], documentPath: [...documentPath, key] };
    const other = Object.hasOwn(stated, key) ? stated[key] : undefined;
    if (other !== undefined && other !== null) walkValues(walk, place, value, other);
    else if (other === null && readsBack(walk, place.path, null, value)) continue;
    else walkLiveOnly(walk, place.path, documentPath);
  }
  for (const [key, value] of Object.entries(stated)) {
    if (Object.hasOwn(live, key)) continue;
    const at = [...path, key];
    if (!readsBack(walk, at, value, undefined)) walk.found.push(at);
  }
}

function walkLists(
  walk: Walk,
  { path, documentPath }: Place,
  live: readonly Json[],
  stated: readonly Json[],
): void {
  const pairs = pairItems(walk.schema, path, live, stated);
  for (const [index, item] of live.entries()) {
    const at = pairs[index];
    const other = at === undefined ? undefined : stated[at];
    if (at === undefined || other === undefined) walkLiveOnly(walk, [...path, index], documentPath);
    else walkValues(walk, { path: [...path, index], documentPath: [...documentPath, at] }, item, other);
  }
  const paired = new Set(pairs);
  let next = live.length;
  for (const index of stated.keys()) {
    if (paired.has(index)) continue;
    walk.found.push([...path, next]);
    next += 1;
  }
  if (isOrdered(walk.schema, path) && !isRising(pairs)) walk.found.push(path);
}

function walkLiveOnly(walk: Walk, path: Path, documentPath: Path): void {
  const { schema, live, document } = walk;
  walk.found.push(...schema.unexplained({ live, path, document, documentPath }));
}

function readsBack(
  { schema, document, live: object }: Walk,
  path: Path,
  stated: Json,
  live: Json | undefined,
): boolean {
  return schema.readsBack({ path, stated, live, document, object });
}

function isRising(positions: readonly (number | undefined)[]): boolean {
  const known = positions.filter((position) => position !== undefined);
  return known.every((position, index) => index === 0 || position > (known[index - 1] ?? -1));
}
