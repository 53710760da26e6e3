/** What a tree means as JSON, and whether it already means a desired value. */
import { equalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { keyText, resolvePlain, resolvePlainKustomize } from './dialect.ts';
import { maxAliasValues, quote } from './limits.ts';
import type { MapNode, Node, PairNode, ScalarNode } from './nodes.ts';

/** The value of a node in the reading of kubectl, Argo CD and Flux. The tree must have passed `examine`. */
export function toJson(node: Node): Json {
  switch (node.kind) {
    case 'absent':
      return readTagged(node.tag, '', true, resolvePlain);
    case 'scalar':
      return scalarValue(node);
    case 'alias':
      return toJson(node.target);
    case 'list':
      return node.items.map((item) => toJson(item.value));
    case 'map':
      return mapValue(node);
  }
}

function mapValue(node: MapNode): JsonObject {
  const object: JsonObject = {};
  const merged: JsonObject = {};
  for (const pair of node.pairs) {
    if (isMergeKey(pair)) Object.assign(merged, mergedValue(pair.value));
    else setOwn(object, pairKey(pair), toJson(pair.value));
  }
  for (const [key, value] of Object.entries(merged)) {
    if (!Object.hasOwn(object, key)) setOwn(object, key, value);
  }
  return object;
}

function mergedValue(node: Node): JsonObject {
  const value = toJson(node);
  if (Array.isArray(value)) return Object.assign({}, ...value.filter(isObject).reverse());
  return isObject(value) ? value : {};
}

/** `__proto__` as a key is data, not the prototype. */
function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

export function scalarValue(node: ScalarNode): Json {
  return readTagged(node.tag, node.text, node.style === 'plain', resolvePlain);
}

function readTagged(
  tag: string | undefined,
  text: string,
  plain: boolean,
  resolve: (text: string) => Json,
): Json {
  if (tag === '!!str') return text;
  if (tag === '!!float' || tag === '!!int' || tag === '!!bool' || tag === '!!null') return resolve(text);
  return plain ? resolve(text) : text;
}

export function isMergeKey({ key }: PairNode): boolean {
  return key.kind === 'scalar' && key.style === 'plain' && key.text === '<<';
}

/** The key of a pair as JSON text, the way the Go reader prints it. */
export function pairKey({ key }: PairNode): string {
  return keyOf(key, resolvePlain);
}

/** The key as kustomize prints it. */
function kustomizeKey({ key }: PairNode): string {
  return keyOf(key, resolvePlainKustomize);
}

function keyOf(key: Node, resolve: (text: string) => Json): string {
  if (key.kind === 'alias') return keyOf(key.target, resolve);
  if (key.kind === 'absent') return 'null';
  if (key.kind !== 'scalar') return '';
  return keyText(readTagged(key.tag, key.text, key.style === 'plain', resolve));
}

/** The member of `object` a pair stands for, by either reading of the key; undefined when there is none. */
export function memberKey(pair: PairNode, object: JsonObject): string | undefined {
  const key = pairKey(pair);
  if (Object.hasOwn(object, key)) return key;
  const other = kustomizeKey(pair);
  return Object.hasOwn(object, other) ? other : undefined;
}

/** Whether the node already means `desired`, for each scalar by the reading of kubectl or by kustomize's. */
export function matches(node: Node, desired: Json): boolean {
  switch (node.kind) {
    case 'absent':
      return equalJson(toJson(node), desired);
    case 'scalar':
      return matchesScalar(node, desired);
    case 'alias':
      return matches(node.target, desired);
    case 'list':
      return (
        Array.isArray(desired) &&
        desired.length === node.items.length &&
        node.items.every((item, index) => matches(item.value, desired[index] ?? null))
      );
    case 'map':
      return isObject(desired) && matchesMap(node, desired);
  }
}

function matchesScalar(node: ScalarNode, desired: Json): boolean {
  if (desired !== null && typeof desired === 'object') return false;
  if (equalJson(scalarValue(node), desired)) return true;
  return (
    typeof desired === 'string' &&
    node.style === 'plain' &&
    node.tag === undefined &&
    resolvePlainKustomize(node.text) === desired
  );
}

function matchesMap(node: MapNode, desired: JsonObject): boolean {
  if (node.pairs.some(isMergeKey)) return equalJson(mapValue(node), desired);
  const seen = new Set<string>();
  for (const pair of node.pairs) {
    const key = memberKey(pair, desired);
    if (key === undefined || seen.has(key) || !matches(pair.value, desired[key] ?? null)) return false;
    seen.add(key);
  }
  return seen.size === Object.keys(desired).length;
}

export interface Examination {
  /** Why the document has no JSON value, with the offset. */
  unreadable?: { message: string; at: number };
  /** The construct that keeps us from editing. */
  notEditable?: string;
}

/** Walks a tree once, without following aliases, and says what keeps it from being read or edited. */
export function examine(root: Node): Examination {
  const result: Examination = {};
  const sizes = new Map<Node, number>();
  let aliasValues = 0;

  const visit = (node: Node): number => {
    if (result.unreadable !== undefined) return 0;
    refuseTag(node);
    let size = 1;
    if (node.kind === 'alias') {
      const target = sizes.get(node.target);
      if (target === undefined) {
        result.unreadable = { message: 'an alias stands inside its own anchor', at: node.start };
        return 0;
      }
      size = target;
      aliasValues += size;
      if (aliasValues > maxAliasValues)
        result.unreadable = {
          message: `aliases stand for more than ${maxAliasValues} values`,
          at: node.start,
        };
    } else if (node.kind === 'list') {
      for (const item of node.items) size += visit(item.value);
    } else if (node.kind === 'map') {
      size += visitPairs(node);
    } else if (node.kind === 'scalar' && node.style === 'plain') {
      const value = scalarValue(node);
      if (typeof value === 'number' && !Number.isFinite(value))
        result.unreadable = { message: `${node.text} is no JSON value; quote it`, at: node.start };
    }
    if (node.anchor !== undefined) sizes.set(node, size);
    return size;
  };

  const visitPairs = (node: MapNode): number => {
    const keys = new Set<string>();
    let size = 0;
    for (const pair of node.pairs) {
      refuseKey(pair, keys);
      size += visit(pair.key) + visit(pair.value);
    }
    return size;
  };

  const refuseKey = (pair: PairNode, keys: Set<string>): void => {
    const key = pair.key.kind === 'alias' ? pair.key.target : pair.key;
    if (key.kind === 'map' || key.kind === 'list') {
      result.notEditable ??= 'a map or list is used as a key, as an unrendered template has it';
      return;
    }
    if (isMergeKey(pair)) {
      result.notEditable ??= 'the merge key "<<" is used';
      return;
    }
    const text = pairKey(pair);
    if (keyIsNull(key)) result.notEditable ??= 'a key is null';
    else if (keys.has(text)) result.notEditable ??= `the key ${quote(text)} stands twice in one map`;
    keys.add(text);
  };

  const refuseTag = (node: Node): void => {
    if (node.tag === undefined || isPlainTag(node)) return;
    result.notEditable ??= `the tag ${quote(node.tag)} is used`;
  };

  visit(root);
  return result;
}

function keyIsNull(key: Node): boolean {
  if (key.kind !== 'scalar') return true;
  return key.style === 'plain' && key.tag === undefined && resolvePlain(key.text) === null;
}

/** A core tag that says what the value is anyway. */
function isPlainTag(node: Node): boolean {
  if (node.kind === 'map') return node.tag === '!!map';
  if (node.kind === 'list') return node.tag === '!!seq';
  if (node.kind === 'absent') return node.tag === '!!null' || node.tag === '!!str';
  if (node.kind !== 'scalar') return false;
  const value = resolvePlain(node.text);
  switch (node.tag) {
    case '!!str':
      return true;
    case '!!int':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
    case '!!float':
      return typeof value === 'number';
    case '!!bool':
      return typeof value === 'boolean';
    case '!!null':
      return value === null;
    default:
      return false;
  }
}
