/**
 * Variables that the applier fills in after the build (Flux postBuild), so that they stay variables in Git.
 *
 * Where the Kustomization is known, objects are compared with their variables filled in, and an edit is written back around
 * them. Where it is not, a text with `${…}` in it that is different live is never overwritten.
 */

import { metadataMap } from '../identity.ts';
import { formatPath } from '../intent/index.ts';
import { type KindSchema, pairItems } from '../intent/schema/index.ts';
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { resolvePlain } from '../yaml/dialect.ts';
import { escapeVariables, fillIn, type Part, parseVariables, variablesIn } from './envsubst.ts';
import { member } from './source-form.ts';

export interface VariableValue {
  readonly value: string;
  /** Where it lives, for people. */
  readonly where: string;
}

export interface PostBuild {
  readonly variables: ReadonlyMap<string, VariableValue>;
  /** Sources whose values nobody gave us, for people; a variable found nowhere else may be in one of them. */
  readonly unread: readonly string[];
  /** Who fills in: the Kustomization and its file. */
  readonly where: string;
}

export type Restored =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly field: string; readonly token: string; readonly message: string };

const mark = 'kustomize.toolkit.fluxcd.io/substitute';

/** Whether anything is filled in for this object. */
function isLeftAlone(postBuild: PostBuild | undefined, object: JsonObject): boolean {
  if (postBuild === undefined) return true;
  // Without a single variable Flux does not look at the objects at all.
  if (postBuild.variables.size === 0 && postBuild.unread.length === 0) return true;
  return [metadataMap(object, 'annotations'), metadataMap(object, 'labels')].some(
    (marks) => marks[mark] === 'disabled',
  );
}

/**
 * The object as the applier applies it. A value that is not known is taken from the live object where the rest of the text
 * agrees with it.
 */
export function fillObject(
  postBuild: PostBuild | undefined,
  schema: KindSchema,
  object: JsonObject,
  live: JsonObject | undefined,
): JsonObject {
  if (postBuild === undefined || isLeftAlone(postBuild, object)) return object;
  const filled = fill(postBuild, schema, [], object, live);
  return isObject(filled) ? filled : object;
}

function fill(postBuild: PostBuild, schema: KindSchema, path: Path, raw: Json, live: Json | undefined): Json {
  if (typeof raw === 'string') return raw.includes('$') ? fillText(postBuild, raw, live) : raw;
  if (Array.isArray(raw)) {
    const others = Array.isArray(live) ? live : [];
    const pairs = others.length === 0 ? [] : pairItems(schema, path, raw, others);
    return raw.map((item, index) => {
      const at = pairs[index];
      return fill(postBuild, schema, [...path, index], item, at === undefined ? undefined : others[at]);
    });
  }
  if (!isObject(raw)) return raw;
  return Object.fromEntries(
    Object.entries(raw).map(([key, value]): [string, Json] => {
      const name = fillKey(postBuild, key);
      return [name, fill(postBuild, schema, [...path, name], value, member(live, name))];
    }),
  );
}

function fillKey(postBuild: PostBuild, key: string): string {
  const parts = key.includes('$') ? parseVariables(key) : undefined;
  return parts === undefined ? key : (fillIn(parts, lookup(postBuild)) ?? key);
}

function fillText(postBuild: PostBuild, raw: string, live: Json | undefined): Json {
  const parts = parseVariables(raw);
  if (parts === undefined) return raw;
  const text = fillIn(parts, lookup(postBuild));
  if (text === undefined) return matchesLive(parts, live) ? (live ?? raw) : raw;
  return text !== raw && text !== live && isPrintedPlain(raw) ? resolvePlain(text) : text;
}

function lookup({ variables, unread }: PostBuild): (name: string) => string | undefined {
  return (name) => variables.get(name)?.value ?? (unread.length === 0 ? '' : undefined);
}

/** Whether the live value can be the text with some value for each variable. */
function matchesLive(parts: readonly Part[], live: Json | undefined): boolean {
  if (live === undefined || live === null || typeof live === 'object') return false;
  const text = String(live);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'text') continue;
    const found = index === parts.length - 1 ? text.length - part.text.length : text.indexOf(part.text, at);
    if (found < at || (index === 0 && found !== 0) || !text.startsWith(part.text, found)) return false;
    at = found + part.text.length;
  }
  return parts.at(-1)?.kind === 'variable' || at === text.length;
}

/** A text that kustomize prints without quotes is read anew when its variables are filled in: it may become a number. */
function isPrintedPlain(text: string): boolean {
  return !/[\n\r\t]|: |:$| #|^[-?:,[\]{}#&*!|>'"%@`]|^\s|\s$/.test(text);
}

/**
 * The wanted object with the variables of `raw` in it. `filled` is `raw` as the applier applies it. An edit of a value that
 * holds a variable is not written: its value lives elsewhere.
 */
export function restoreObject(
  postBuild: PostBuild | undefined,
  schema: KindSchema,
  views: { readonly raw: JsonObject; readonly filled: JsonObject; readonly wanted: JsonObject },
): Restored {
  const left = isLeftAlone(postBuild, views.raw);
  const walk: Walk = { postBuild: left ? undefined : postBuild, isKnown: postBuild !== undefined, schema };
  try {
    const value = restore(walk, [], views.raw, views.filled, views.wanted);
    return { ok: true, value: isObject(value) ? value : views.wanted };
  } catch (error) {
    if (!(error instanceof Held)) throw error;
    const field = formatPath(error.path, views.wanted);
    return { ok: false, field, token: error.token, message: heldMessage(postBuild, field, error.token) };
  }
}

interface Walk {
  readonly postBuild: PostBuild | undefined;
  /** The Kustomization is known, whether or not it fills in anything here. */
  readonly isKnown: boolean;
  readonly schema: KindSchema;
}

class Held extends Error {
  readonly path: Path;
  readonly token: string;

  constructor(path: Path, token: string) {
    super('held by a variable');
    this.path = path;
    this.token = token;
  }
}

function restore(walk: Walk, path: Path, raw: Json, filled: Json, wanted: Json): Json {
  if (equalJson(filled, wanted)) return raw;
  if (isObject(raw) && isObject(filled) && isObject(wanted))
    return restoreMap(walk, path, raw, filled, wanted);
  if (Array.isArray(raw) && Array.isArray(filled) && Array.isArray(wanted) && raw.length === filled.length) {
    const pairs = pairItems(walk.schema, path, wanted, filled);
    if (!walk.isKnown) holdLost(path, raw, new Set(pairs));
    return wanted.map((item, index) => {
      const at = pairs[index];
      const [own, made] = at === undefined ? [undefined, undefined] : [raw[at], filled[at]];
      if (own === undefined || made === undefined) return fresh(walk, item);
      return restore(walk, [...path, index], own, made, item);
    });
  }
  hold(walk, path, raw, filled, wanted);
  return fresh(walk, wanted);
}

function restoreMap(
  walk: Walk,
  path: Path,
  raw: JsonObject,
  filled: JsonObject,
  wanted: JsonObject,
): JsonObject {
  const result: JsonObject = {};
  const names = new Set<string>();
  for (const [key, value] of Object.entries(raw)) {
    const name = walk.postBuild === undefined ? key : fillKey(walk.postBuild, key);
    names.add(name);
    const after = member(wanted, name);
    if (after !== undefined)
      result[key] = restore(walk, [...path, name], value, member(filled, name) ?? null, after);
    else if (!walk.isKnown && isToken(value)) throw new Held([...path, name], String(value));
  }
  for (const [name, value] of Object.entries(wanted)) {
    if (!names.has(name)) result[name] = fresh(walk, value);
  }
  return result;
}

function holdLost(path: Path, raw: readonly Json[], kept: ReadonlySet<number | undefined>): void {
  for (const [index, item] of raw.entries()) {
    if (!kept.has(index) && isToken(item)) throw new Held([...path, index], String(item));
  }
}

const token = /\$\{[^{}]+\}/;

function isToken(value: Json): boolean {
  return typeof value === 'string' && token.test(value);
}

function hold(walk: Walk, path: Path, raw: Json, filled: Json, wanted: Json): void {
  if (typeof raw !== 'string') return;
  if (walk.postBuild !== undefined) {
    const parts = raw.includes('${') ? parseVariables(raw) : undefined;
    if (parts !== undefined && variablesIn(parts).length > 0) throw new Held(path, raw);
    return;
  }
  // Nobody told who fills in. A live text that still holds the very tokens was not filled in.
  if (walk.isKnown || !equalJson(raw, filled)) return;
  const tokens = raw.match(/\$\{[^{}]+\}/g) ?? [];
  if (tokens.some((one) => typeof wanted !== 'string' || !wanted.includes(one))) throw new Held(path, raw);
}

/** What a person wrote live is meant as it stands. */
function fresh(walk: Walk, value: Json): Json {
  if (walk.postBuild === undefined) return value;
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map((item) => fresh(walk, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fresh(walk, one)]));
}

function heldMessage(postBuild: PostBuild | undefined, field: string, text: string): string {
  if (postBuild === undefined)
    return `${field} holds the variable ${text} in Git and something else live; who fills it in is not known, so it is not overwritten`;
  const names = variablesIn(parseVariables(text) ?? []);
  const places = names.map((name) => {
    const found = postBuild.variables.get(name);
    if (found !== undefined) return `${name} lives in ${found.where}`;
    return postBuild.unread.length === 0
      ? `${name} is set nowhere, ${postBuild.where} could set it`
      : `${name} may live in ${postBuild.unread.join(' or ')}`;
  });
  return `${field} is ${text} in Git: ${places.join(', ')}; change the value there`;
}
