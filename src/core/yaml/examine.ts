/** What keeps a parsed document from being read as JSON, or from being edited in place. */
import { resolvePlain } from './dialect.ts';
import { maxAliasValues, quote } from './limits.ts';
import type { MapNode, Node, PairNode } from './nodes.ts';
import { isMergeKey, pairKey, scalarValue } from './value.ts';

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
