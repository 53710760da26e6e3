/** Edits one document of a file: plans splices, applies them, and hands out only what reads back exactly. */
import type { JsonObject, Path } from '../json.ts';
import { houseStyle } from './emit.ts';
import { dominantEol, lineEnd, lineStart } from './lines.ts';
import { mergeValue } from './merge.ts';
import type { Node, Tree } from './nodes.ts';
import type { Merge } from './place.ts';
import { printDocument } from './print.ts';
import { contentStart, readTree } from './read.ts';
import { applySplices, type Splice } from './splice.ts';
import { type DocumentSlice, splitDocuments } from './split.ts';
import { detectStyle } from './style.ts';
import { isWritable, matches, toJson } from './value.ts';
import { secondOpinion, verify } from './verify.ts';
import { inWholeLines } from './whole-lines.ts';

export interface EditOptions {
  /**
   * Keys that pair the items of the list at this path (steps: map keys as strings, positions in the wanted lists as numbers);
   * undefined pairs by a unique `name`, or by longest common subsequence.
   */
  listKeys(path: Path): readonly string[] | undefined;
}

export type EditResult =
  | { ok: true; text: string; changed: boolean }
  | { ok: false; reason: 'NotEditable' | 'UnplaceableEdit' | 'VerificationFailed'; message: string };

/**
 * Makes document `index` of the file hold exactly `desired`, by splicing. Bytes outside the touched nodes stay. The result
 * was read back before it is returned: what does not read back exactly is a reason, never a text.
 */
export function editDocument(
  text: string,
  index: number,
  desired: JsonObject,
  options: EditOptions,
): EditResult {
  const slice = splitDocuments(text)[index];
  if (slice === undefined) return notEditable(`the file has no document ${index + 1}`);
  const read = readTree(text, slice);
  if (read.kind === 'unreadable') return notEditable(`the document cannot be read: ${read.message}`);
  if (!isWritable(desired))
    return unplaceable('the wanted value is nested too deeply, or a string in it holds half a character');
  if (read.kind === 'empty') return fillDocument(text, slice, desired);
  if (matches(read.tree.root, desired)) return { ok: true, text, changed: false };
  if (read.notEditable !== undefined)
    return notEditable(`${read.notEditable}; the document has to be edited by hand`);
  return splice(text, slice, desired, read.tree, options);
}

function notEditable(message: string): EditResult {
  return { ok: false, reason: 'NotEditable', message };
}

function unplaceable(message: string): EditResult {
  return { ok: false, reason: 'UnplaceableEdit', message };
}

/** Tries the finest edit first, then coarser ones, until one reads back. */
function splice(
  text: string,
  slice: DocumentSlice,
  desired: JsonObject,
  tree: Tree,
  options: EditOptions,
): EditResult {
  const origin = contentStart(text, slice);
  const whole = inWholeLines(tree, slice.bodyEnd - origin, detectStyle(tree, text).eol);
  const style = detectStyle(whole.tree, text);
  const tried = new Set<string>();
  let deepest = 0;
  let known: ReturnType<typeof secondOpinion> | undefined;
  // Asked only in doubt: a document the second reader could not read before the edit is ours alone to judge.
  const opinion = (): ReturnType<typeof secondOpinion> => {
    known ??= secondOpinion(text, slice, toJson(tree.root));
    return known;
  };

  const attempt = (depthLimit: number, literals: boolean): string | undefined => {
    const merge: Merge = {
      tree: whole.tree,
      style: { ...style, literals },
      depthLimit,
      listKeys: options.listKeys,
      anchors: new Map(),
      mergeValue,
      deepest: 0,
    };
    const edited = editTree(merge, desired);
    deepest = Math.max(deepest, merge.deepest);
    if (edited === undefined) return undefined;
    for (const own of whole.restore(edited)) {
      if (tried.has(own)) continue;
      tried.add(own);
      const verdict = verify(text, slice, own, desired);
      if (verdict === 'exact' || (verdict === 'doubtful' && opinion() === 'cannot read'))
        return text.slice(0, origin) + own + text.slice(slice.end);
    }
    return undefined;
  };

  let result = attempt(Number.POSITIVE_INFINITY, true) ?? attempt(Number.POSITIVE_INFINITY, false);
  for (let limit = deepest; result === undefined && limit > 0; limit -= 1) result = attempt(limit, false);
  if (result !== undefined) return { ok: true, text: result, changed: true };
  if (tried.size === 0) return unplaceable('the edit has no exact place in the text of the document');
  if (opinion() === 'differs')
    return notEditable('YAML readers differ on what the document means; write the doubtful part plainly');
  const message = 'the edited text did not read back as wanted, so nothing was changed';
  return { ok: false, reason: 'VerificationFailed', message };
}

function editTree(merge: Merge, desired: JsonObject): string | undefined {
  const { text, root } = merge.tree;
  const slot = { kind: 'pair', at: -1, indent: 0 } as const;
  const splices = mergeValue(merge, slot, root, desired, []) ?? replaceRoot(merge, root, desired);
  return splices === undefined ? undefined : applySplices(text, splices);
}

/** The whole content anew, in the house style: only for a document that is no map, or becomes an empty one. */
function replaceRoot(merge: Merge, root: Node, desired: JsonObject): Splice[] | undefined {
  const isMerged = root.kind === 'map' && root.pairs.length > 0 && Object.keys(desired).length > 0;
  if (isMerged) return undefined;
  const { text } = merge.tree;
  const { eol } = merge.style;
  const start = Math.min(root.propsStart, root.start);
  const end = root.end > 0 && text[root.end - 1] === '\n' ? lineEnd(text, root.end - 1) : root.end;
  const printed = printDocument(desired, merge.style).slice(0, -eol.length);
  return [{ start, end, text: start > lineStart(text, start) ? eol + printed : printed }];
}

/** Puts a value into a document that holds none, after its comments. */
function fillDocument(text: string, slice: DocumentSlice, desired: JsonObject): EditResult {
  const origin = contentStart(text, slice);
  const at = slice.bodyEnd;
  const eol = dominantEol(text);
  const breaks = at > origin && text[at - 1] !== '\n' ? eol : '';
  const printed = printDocument(desired, { ...houseStyle, eol });
  const own = text.slice(origin, at) + breaks + printed + text.slice(at, slice.end);
  if (verify(text, slice, own, desired) !== 'exact')
    return unplaceable('the document is empty and has no place for a value');
  return { ok: true, text: text.slice(0, origin) + own + text.slice(slice.end), changed: true };
}
