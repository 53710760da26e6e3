/** What a tree means as JSON, and whether it already means a desired value. */
import { equalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { keyText, resolvePlain, resolvePlainKustomize } from './dialect.ts';
import { maxDepth } from './limits.ts';
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

/** Whether a value can be written at all: nested no deeper than we read, and every string whole characters. */
export function isWritable(value: Json, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (value === null || typeof value !== 'object') return true;
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) return value.every((item) => isWritable(item, depth + 1));
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWritable(member, depth + 1));
}
