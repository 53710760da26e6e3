/** Which item of a list in Git a desired item is: by keys, by a unique name, or by likeness and position. */
import { canonicalJson, isObject, type Json } from '../json.ts';
import { commonSubsequence } from './sequence.ts';

/**
 * For each desired item the position of the current item it continues, or -1 for a new one.
 * `keys`: fields that tell the items apart; used when they do, on both sides.
 */
export function pairItems(
  current: readonly Json[],
  desired: readonly Json[],
  keys: readonly string[] | undefined,
): number[] {
  const byKeys = keys === undefined || keys.length === 0 ? undefined : pairByKeys(current, desired, keys);
  return byKeys ?? pairByKeys(current, desired, ['name']) ?? pairByLikeness(current, desired);
}

type Identity = (string | undefined)[];

function pairByKeys(
  current: readonly Json[],
  desired: readonly Json[],
  keys: readonly string[],
): number[] | undefined {
  const left = identities(current, keys);
  const right = identities(desired, keys);
  if (left === undefined || right === undefined) return undefined;
  const positions = new Map(left.map((identity, position) => [JSON.stringify(identity), position]));
  const result = right.map((identity) => positions.get(JSON.stringify(identity)) ?? -1);
  pairIncomplete(left, right, result);
  pairRenamed(current, desired, keys, result);
  return result;
}

/** An item whose key changed and nothing else is the same item under a new name. */
function pairRenamed(
  current: readonly Json[],
  desired: readonly Json[],
  keys: readonly string[],
  result: number[],
): void {
  const taken = new Set(result);
  const free = current.flatMap((item, at) => (taken.has(at) ? [] : [{ at, rest: withoutKeys(item, keys) }]));
  for (const [index, item] of desired.entries()) {
    if (result[index] !== -1 || free.length === 0) continue;
    const rest = withoutKeys(item, keys);
    // Items with nothing but a key are all alike; then the place must be the same too.
    const found = free.findIndex((other) => other.rest === rest && (rest !== '{}' || other.at === index));
    if (found >= 0) result[index] = free.splice(found, 1)[0]?.at ?? -1;
  }
}

function withoutKeys(item: Json, keys: readonly string[]): string {
  if (!isObject(item)) return '{}';
  return canonicalJson(Object.fromEntries(Object.entries(item).filter(([key]) => !keys.includes(key))));
}

/** The key fields of each item; undefined when an item has none of them, or two items have the same. */
function identities(items: readonly Json[], keys: readonly string[]): Identity[] | undefined {
  const seen = new Set<string>();
  const result: Identity[] = [];
  for (const item of items) {
    if (!isObject(item)) return undefined;
    const identity = keys.map((key) => keyPart(item[key]));
    const text = JSON.stringify(identity);
    if (identity.every((part) => part === undefined) || seen.has(text)) return undefined;
    seen.add(text);
    result.push(identity);
  }
  return result;
}

function keyPart(value: Json | undefined): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : canonicalJson(value);
}

/** An item that lacks a part of its key (a default the server fills in) pairs with the one item that agrees on the rest. */
function pairIncomplete(left: readonly Identity[], right: readonly Identity[], result: number[]): void {
  if (![...left, ...right].some((identity) => identity.includes(undefined))) return;
  const taken = new Set(result);
  const open = right.flatMap((identity, index) => (result[index] === -1 ? [{ identity, index }] : []));
  for (const { identity, index } of open) {
    const candidates = left.flatMap((other, at) => (!taken.has(at) && agree(other, identity) ? [at] : []));
    const rivals = open.filter((other) => other.index !== index && agree(other.identity, identity));
    const [only] = candidates;
    if (candidates.length !== 1 || only === undefined || rivals.length > 0) continue;
    result[index] = only;
    taken.add(only);
  }
}

function agree(a: Identity, b: Identity): boolean {
  return a.every((part, index) => part === undefined || b[index] === undefined || part === b[index]);
}

function pairByLikeness(current: readonly Json[], desired: readonly Json[]): number[] {
  const left = current.map(canonicalJson);
  const right = desired.map(canonicalJson);
  const common = commonSubsequence(left, right);
  const result = desired.map(() => -1);
  for (const [at, position] of common) result[position] = at;
  pairMoved(left, right, result);
  pairByPosition(common, current.length, result);
  return result;
}

/** Equal items that the common subsequence left over have moved. */
function pairMoved(left: readonly string[], right: readonly string[], result: number[]): void {
  const taken = new Set(result);
  const free = new Map<string, number[]>();
  for (let at = left.length - 1; at >= 0; at -= 1) {
    const text = left[at] ?? '';
    const places = free.get(text);
    if (taken.has(at)) continue;
    if (places === undefined) free.set(text, [at]);
    else places.push(at);
  }
  right.forEach((text, index) => {
    if (result[index] === -1) result[index] = free.get(text)?.pop() ?? -1;
  });
}

/** What lies between two equal items on both sides is paired in order: those are items that changed. */
function pairByPosition(common: readonly [number, number][], length: number, result: number[]): void {
  const taken = new Set(result);
  let [left, right] = [0, 0];
  for (const [at, position] of [...common, [length, result.length] as const]) {
    for (; right < position; right += 1) {
      if (result[right] !== -1) continue;
      while (left < at && taken.has(left)) left += 1;
      if (left >= at) continue;
      result[right] = left;
      left += 1;
    }
    [left, right] = [at + 1, position + 1];
  }
}
