/** Edits one document of a file: plans splices, applies them, and hands out only what reads back exactly. */
import type { Json, JsonObject, Path } from '../json.ts';
import { houseStyle } from './emit.ts';
import { dominantEol, lineEnd, lineStart } from './lines.ts';
import { mergeValue } from './merge.ts';
import type { Node, Tree } from './nodes.ts';
import { parseTree } from './parse.ts';
import type { Merge } from './place.ts';
import { printDocument } from './print.ts';
import { contentStart, readTree } from './read.ts';
import { applySplices, type Splice } from './splice.ts';
import { type DocumentSlice, splitDocuments } from './split.ts';
import { detectStyle } from './style.ts';
import { matches, toJson } from './value.ts';
import { secondOpinion, verify } from './verify.ts';

export interface EditOptions {
  /** Keys that pair the items of the list at this path (steps: map keys as strings, list positions as numbers); undefined = pair by longest common subsequence, or by a unique `name`. */
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
  if (read.kind === 'empty') return fillDocument(text, slice, desired);
  if (matches(read.tree.root, desired)) return { ok: true, text, changed: false };
  if (read.notEditable !== undefined)
    return notEditable(`${read.notEditable}; the document has to be edited by hand`);
  if (!isWellFormed(desired))
    return unplaceable('a string of the wanted value holds half a character, which UTF-8 cannot carry');
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
  const whole = terminate(tree, slice.bodyEnd - origin, detectStyle(tree, text).eol);
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
  const splices = mergeValue(merge, slot, root, desired, []) ?? [replaceRoot(merge, root, desired)];
  return applySplices(text, splices);
}

/** The whole content anew, in the house style: for a document that is no map, or becomes an empty one. */
function replaceRoot(merge: Merge, root: Node, desired: JsonObject): Splice {
  const { text } = merge.tree;
  const { eol } = merge.style;
  const start = Math.min(root.propsStart, root.start);
  const end = root.end > 0 && text[root.end - 1] === '\n' ? lineEnd(text, root.end - 1) : root.end;
  const printed = printDocument(desired, merge.style).slice(0, -eol.length);
  return { start, end, text: start > lineStart(text, start) ? eol + printed : printed };
}

/** A text that ends in an end of line, and the ways back to one that does not. */
interface Terminated {
  tree: Tree;
  /** Texts that may stand for the edited one in the file, best first. */
  restore(edited: string): string[];
}

/**
 * Splicing works on whole lines, so a missing end of line at the end of the file is added, and taken away again. A block of
 * text cut off by the end of the file has no final end of line in its value: its header says so meanwhile.
 */
function terminate(tree: Tree, bodyEnd: number, eol: string): Terminated {
  const { text } = tree;
  if (text === '' || text.endsWith('\n')) return { tree, restore: (edited) => [edited] };
  const cut = bodyEnd === text.length ? lastBlockScalar(tree.root) : undefined;
  const header = cut === undefined ? '' : (/^[|>][-+0-9]*/.exec(text.slice(cut))?.[0] ?? '');
  const stripped = `${header.replace(/[-+]/, '')}-`;
  const whole = cut === undefined ? text : text.slice(0, cut) + stripped + text.slice(cut + header.length);
  const from = tree.bodyStart;
  const parsed = parseTree(whole + eol, from, bodyEnd === text.length ? whole.length + eol.length : bodyEnd);
  if (!parsed.ok) return { tree, restore: (edited) => [edited] };
  const tail = cut === undefined ? '' : stripped + text.slice(cut + header.length) + eol;
  return {
    tree: parsed.tree,
    restore: (edited) => {
      const bare = edited.endsWith(eol) ? edited.slice(0, -eol.length) : edited;
      if (cut === undefined || !edited.endsWith(tail)) return [bare, edited];
      return [edited.slice(0, -tail.length) + text.slice(cut), bare, edited];
    },
  };
}

/** Offset of the block scalar the document ends with. */
function lastBlockScalar(node: Node): number | undefined {
  if (node.kind === 'scalar') return node.block === undefined ? undefined : node.start;
  if (node.kind === 'map') return node.flow ? undefined : lastOf(node.pairs);
  if (node.kind === 'list') return node.flow ? undefined : lastOf(node.items);
  return undefined;
}

function lastOf(entries: readonly { value: Node }[]): number | undefined {
  const last = entries.at(-1);
  return last === undefined ? undefined : lastBlockScalar(last.value);
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

function isWellFormed(value: Json): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
}
