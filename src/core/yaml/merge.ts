/**
 * Plans the splices that make a value in the text hold a desired value. Collections are merged entry by entry; what cannot
 * be merged is written anew in its place. Nothing here changes the text or the tree.
 */
import { equalJson, isObject, type Json, type Path } from '../json.ts';
import { mergeLiteral } from './block-scalar.ts';
import { mergeFlowList, mergeFlowMap } from './merge-flow.ts';
import { mergeList } from './merge-list.ts';
import { mergeMap } from './merge-map.ts';
import type { AliasNode, Node } from './nodes.ts';
import type { Merge, Slot } from './place.ts';
import { replaceValue } from './replace.ts';
import type { Splice } from './splice.ts';
import { matches, toJson } from './value.ts';

/** Splices that make `node` hold `desired`. Undefined when there is no exact place for the edit. */
export function mergeValue(
  merge: Merge,
  slot: Slot,
  node: Node,
  desired: Json,
  path: Path,
): Splice[] | undefined {
  if (node.kind === 'alias') {
    const now = aliasValue(merge, node);
    return now !== undefined && equalJson(now, desired) ? [] : replaceValue(merge, slot, node, desired);
  }
  if (node.anchor !== undefined) merge.anchors.set(node, desired);
  if (matches(node, desired) && !(merge.tree.hasAlias && holdsAlias(node))) return [];
  if (path.length < merge.depthLimit) {
    const splices = mergeInside(merge, slot, node, desired, path);
    if (splices !== undefined) return splices;
  }
  return replaceValue(merge, slot, node, desired);
}

function mergeInside(merge: Merge, slot: Slot, node: Node, desired: Json, path: Path): Splice[] | undefined {
  if (node.kind === 'scalar') {
    if (typeof desired !== 'string' || node.tag !== undefined) return undefined;
    return mergeLiteral(merge.tree.text, node, desired, slot.indent, merge.style);
  }
  merge.deepest = Math.max(merge.deepest, path.length);
  if (node.kind === 'map' && isObject(desired) && Object.keys(desired).length > 0) {
    return node.flow ? mergeFlowMap(merge, node, desired, path) : mergeMap(merge, node, desired, path);
  }
  if (node.kind === 'list' && Array.isArray(desired) && desired.length > 0) {
    return node.flow ? mergeFlowList(merge, node, desired, path) : mergeList(merge, node, desired, path);
  }
  return undefined;
}

/** What an alias will stand for once the splices planned so far are made; undefined when its anchor goes away. */
function aliasValue(merge: Merge, node: AliasNode): Json | undefined {
  return merge.anchors.has(node.target) ? merge.anchors.get(node.target) : toJson(node.target);
}

function holdsAlias(node: Node): boolean {
  if (node.kind === 'alias') return true;
  if (node.kind === 'list') return node.items.some((item) => holdsAlias(item.value));
  return node.kind === 'map' && node.pairs.some((pair) => holdsAlias(pair.key) || holdsAlias(pair.value));
}
