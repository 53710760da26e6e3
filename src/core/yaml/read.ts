/** Reads the documents of a file as JSON values, and says of each whether the splice editor may touch it. */
import type { Json } from '../json.ts';
import { examine } from './examine.ts';
import { maxDocuments, quote } from './limits.ts';
import { lineCounter } from './lines.ts';
import type { Node, Tree } from './nodes.ts';
import { parseTree } from './parse.ts';
import { type DocumentSlice, splitDocuments } from './split.ts';
import { toJson } from './value.ts';

export type ReadDocument =
  | { kind: 'empty'; slice: DocumentSlice }
  /** `notEditable`: a sentence naming the construct that keeps the document from being edited in place. */
  | { kind: 'value'; slice: DocumentSlice; value: Json; notEditable?: string; text: string }
  /** `line` counts from 1 in the file. */
  | { kind: 'unreadable'; slice: DocumentSlice; message: string; line: number };

const tooMany = `the file has more than ${maxDocuments} documents`;

export type TreeOf =
  | { kind: 'empty' }
  | { kind: 'tree'; tree: Tree; notEditable: string | undefined }
  | { kind: 'unreadable'; message: string; at: number };

/** Reads every document of a file. Never throws: what cannot be read is said so, in place. */
export function readDocuments(text: string): ReadDocument[] {
  const lineAt = lineCounter(text);
  return splitDocuments(text).map((slice, index) => {
    if (index >= maxDocuments)
      return { kind: 'unreadable', slice, message: tooMany, line: lineAt(slice.start) };
    const read = readTree(text, slice);
    if (read.kind === 'empty') return { kind: 'empty', slice };
    if (read.kind === 'unreadable')
      return { kind: 'unreadable', slice, message: read.message, line: lineAt(read.at) };
    const value = toJson(read.tree.root);
    const body = text.slice(slice.start, slice.end);
    if (read.notEditable === undefined) return { kind: 'value', slice, value, text: body };
    return { kind: 'value', slice, value, notEditable: read.notEditable, text: body };
  });
}

/** The tree of one document over the text of its slice, byte order mark left out. `at` is an offset in `text`. */
export function readTree(text: string, slice: DocumentSlice): TreeOf {
  const origin = contentStart(text, slice);
  const own = text.slice(origin, slice.end);
  const problem = badCharacter(own);
  if (problem !== undefined) return { kind: 'unreadable', message: problem.message, at: origin + problem.at };
  const directives = examineDirectives(own.slice(0, slice.bodyStart - origin));
  if (directives.unreadable !== undefined)
    return { kind: 'unreadable', message: directives.unreadable, at: origin };
  const parsed = parseTree(own, slice.bodyStart - origin, slice.bodyEnd - origin);
  if (!parsed.ok) return { kind: 'unreadable', message: parsed.message, at: origin + parsed.at };
  if (isEmpty(parsed.tree.root)) return { kind: 'empty' };
  const { unreadable, notEditable } = examine(parsed.tree.root);
  if (unreadable !== undefined)
    return { kind: 'unreadable', message: unreadable.message, at: origin + unreadable.at };
  return {
    kind: 'tree',
    tree: parsed.tree,
    notEditable: notEditable ?? directives.notEditable ?? oddLineBreak(own),
  };
}

/** Where a document's own text begins: after the byte order mark on the first one. */
export function contentStart(text: string, slice: DocumentSlice): number {
  return slice.start === 0 && text.startsWith('\uFEFF') ? 1 : slice.start;
}

function isEmpty(root: Node): boolean {
  return root.kind === 'absent' && root.anchor === undefined && root.tag === undefined;
}

const forbidden = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F\x80-\x84\x86-\x9F\uFFFE\uFFFF]/;

/** Characters no YAML text may hold. */
function badCharacter(text: string): { message: string; at: number } | undefined {
  const at = text.search(forbidden);
  if (at < 0) return undefined;
  const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
  return { message: `the control character U+${code} is not allowed in YAML`, at };
}

const lineBreaks = /\r(?!\n)|[\u0085\u2028\u2029]/;

/** YAML 1.1 ends lines at characters that YAML 1.2 takes for content, so the readers see two documents. */
function oddLineBreak(text: string): string | undefined {
  const found = lineBreaks.exec(text);
  if (found === null) return undefined;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `the character U+${code} ends a line for some readers only; write it as an escape`;
}

/** The lines before the `---`: a version is fine, tag handles are not followed. */
function examineDirectives(head: string): { unreadable?: string; notEditable?: string } {
  const lines = head.split('\n').filter((line) => line.startsWith('%'));
  if (lines.length === 0) return {};
  const other = lines.find((line) => !/^%YAML\s+1\.[12]\s*(?:#.*)?$/.test(line));
  if (other === undefined) return {};
  return other.startsWith('%YAML')
    ? { unreadable: `${quote(other.trim())} is not a version we read` }
    : { notEditable: `the directive ${quote(other.trim())} is used` };
}
