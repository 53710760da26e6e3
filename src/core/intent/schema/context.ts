/**
 * One field under question: the live object, the document beside it, and reading either of them at a rule's paths.
 *
 * Rules ask what the document states after the edit. Where the document lacks the object around the field (a container, or
 * the whole manifest, that is about to be added as it is live), the live object says what the document will state.
 */
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../../json.ts';
import type { ExplainField, KindSchema } from './kind-schema.ts';
import { alignPath } from './pairing.ts';
import { anyItem, anyKey, type Step } from './rules.ts';

export interface Context {
  readonly live: JsonObject;
  readonly document: JsonObject;
  readonly before: JsonObject | undefined;
  readonly path: Path;
  readonly value: Json;
  /** The beginning of `path` as it stands in the document; shorter than `path` by one when the parent is there. */
  readonly aligned: Path;
}

/** A value a rule reads, and where it came from. */
export interface Reading {
  readonly value: Json | undefined;
  readonly of: 'live' | 'document';
  /** Where the value stands, or would stand, in the live object. */
  readonly livePath: Path;
}

export function contextOf(schema: KindSchema, field: ExplainField, value: Json): Context {
  const { live, document, path, documentPath, before } = field;
  const aligned = documentPath ?? alignPath(schema, live, document, path.slice(0, -1));
  return { live, document, before, path, value, aligned };
}

/** The context of a member of the field, which the document lacks as well. */
export function memberContext(context: Context, step: string | number, value: Json): Context {
  return { ...context, path: [...context.path, step], value };
}

/** The context of another field of the same object. */
export function elsewhere(schema: KindSchema, context: Context, path: Path, value: Json): Context {
  const { live, document } = context;
  return { ...context, path, value, aligned: alignPath(schema, live, document, path.slice(0, -1)) };
}

/** Does the document state the object around the field? */
export function hasParent(context: Context): boolean {
  return context.aligned.length === context.path.length - 1;
}

/** The document states nothing yet: the live object has no manifest. */
export function isNew(document: JsonObject): boolean {
  return !Object.keys(document).some((key) => key !== 'apiVersion' && key !== 'kind' && key !== 'metadata');
}

/** The concrete path of a rule's path, with the list positions and keys of the field; undefined when they do not fit. */
export function resolve(path: Path, base: number, steps: readonly Step[]): Path | undefined {
  const found: (string | number)[] = [...path.slice(0, base)];
  let shared = true;
  for (const step of steps) {
    const own = path[found.length];
    if (step === anyItem || step === anyKey) {
      if (!shared || own === undefined || (step === anyItem) !== (typeof own === 'number')) return undefined;
      found.push(own);
    } else {
      shared &&= own === step;
      found.push(step);
    }
  }
  return found;
}

export function readLive(context: Context, base: number, steps: readonly Step[]): Json | undefined {
  const path = resolve(context.path, base, steps);
  return path === undefined ? undefined : valueAt(context.live, path);
}

/** What the document states (or will state) at a rule's path. */
export function readDocument(context: Context, base: number, steps: readonly Step[]): Reading | undefined {
  const path = resolve(context.path, base, steps) ?? resolveLoosely(context, base, steps);
  if (path === undefined) return undefined;
  const shared = sharedLength(context.path, path);
  const around = Math.min(shared, path.length - 1);
  const known = around === 0 ? !isNew(context.document) : around <= context.aligned.length;
  if (!known) return { value: valueAt(context.live, path), of: 'live', livePath: path };
  const there = [...context.aligned.slice(0, around), ...path.slice(around)];
  return { value: valueAt(context.document, there), of: 'document', livePath: path };
}

/** What the document before the edit stated at a rule's path. */
export function readBefore(context: Context, base: number, steps: readonly Step[]): Json | undefined {
  const path = resolve(context.path, base, steps);
  if (path === undefined || context.before === undefined || !hasParent(context)) return undefined;
  const around = Math.min(sharedLength(context.path, path), path.length - 1);
  return valueAt(context.before, [...context.aligned.slice(0, around), ...path.slice(around)]);
}

/** `spec.template.metadata.labels.*` read for `metadata.labels.app`: the last key carries over. */
function resolveLoosely(context: Context, base: number, steps: readonly Step[]): Path | undefined {
  const last = context.path.at(-1);
  if (steps.at(-1) !== anyKey || typeof last !== 'string') return undefined;
  return resolve(context.path, base, [...steps.slice(0, -1), last]);
}

function sharedLength(a: Path, b: Path): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

/** The value when it is an object, else an empty one. */
export function objectAt(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
