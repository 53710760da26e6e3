/** What every part of a merge needs to know, and the place one value stands in. */
import type { Json, Path } from '../json.ts';
import type { Style } from './emit.ts';
import type { Node, Tree } from './nodes.ts';
import type { Splice } from './splice.ts';

export interface Merge {
  readonly tree: Tree;
  readonly style: Style;
  /** Collections this deep are written anew instead of merged: the way out when a finer edit does not read back. */
  readonly depthLimit: number;
  readonly listKeys: (path: Path) => readonly string[] | undefined;
  /** What the anchors met so far will hold; undefined for an anchor that goes away. */
  readonly anchors: Map<Node, Json | undefined>;
  /** Merges one value; given here so that the kinds of collection need not know each other. */
  readonly mergeValue: (
    merge: Merge,
    slot: Slot,
    node: Node,
    desired: Json,
    path: Path,
  ) => Splice[] | undefined;
  /** The depth of the deepest collection merged so far. */
  deepest: number;
}

/** The place a value stands in: after a key's colon, after a dash, or inside brackets. */
export interface Slot {
  readonly kind: 'pair' | 'item' | 'flow';
  /** Just after the colon or dash. */
  readonly at: number;
  /** Column of the key or dash. */
  readonly indent: number;
  /** In brackets: how fresh values are written. */
  readonly flow?: { json: boolean; padded: boolean; colonMissing: boolean };
}

/** Notes that the anchors in a node that is deleted or written anew are gone, so that their aliases are written out. */
export function forgetAnchors(merge: Merge, node: Node): void {
  if (!merge.tree.hasAlias) return;
  if (node.anchor !== undefined) merge.anchors.set(node, undefined);
  if (node.kind === 'list') for (const item of node.items) forgetAnchors(merge, item.value);
  if (node.kind === 'map') {
    for (const pair of node.pairs) {
      forgetAnchors(merge, pair.key);
      forgetAnchors(merge, pair.value);
    }
  }
}
