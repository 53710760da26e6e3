/**
 * Finding the document of an object, and the files in which it might stand unread.
 */
import type { ObjectId } from '../identity.ts';
import { type FolderIndex, type IndexedDocument, nameKey } from './folder-index.ts';

export type Lookup =
  | { readonly kind: 'found'; readonly document: IndexedDocument }
  | { readonly kind: 'none' }
  /** Only documents that cannot be edited hold the object. */
  | { readonly kind: 'not-editable'; readonly document: IndexedDocument; readonly reason: string };

/**
 * The document of an object.
 *
 * A document that states the object's namespace wins. Else one that states none is taken (the applier fills it in), and
 * for a cluster-scoped kind one that states any (the API server has no use for it).
 */
export function findDocument(index: FolderIndex, id: ObjectId, namespaced: boolean): Lookup {
  const named = index.documents.get(nameKey(id)) ?? [];
  const exact = named.filter((one) => one.id.namespace === id.namespace);
  const candidates = exact.length > 0 ? exact : named.filter((one) => !namespaced || one.id.namespace === '');
  const claimed = candidates.find((one) => one.notEditable === undefined);
  if (claimed !== undefined) return { kind: 'found', document: claimed };
  const first = candidates[0];
  if (first === undefined) return { kind: 'none' };
  return { kind: 'not-editable', document: first, reason: first.notEditable ?? '' };
}

/** True when an autoscaler of the folder sets the object's size. */
export function isAutoscaled(index: FolderIndex, id: ObjectId): boolean {
  return index.scaled.some(
    (one) =>
      one.group === id.group &&
      one.kind === id.kind &&
      one.name === id.name &&
      (one.namespace === id.namespace || one.namespace === ''),
  );
}

/**
 * True when text that gave no readable record may describe the object all the same: its kind stands there as a word, and
 * so does its name, whole or as a template with a fixed part (`{{ .Release.Name }}-web`). Errs towards true.
 */
export function couldDescribe(text: string, id: ObjectId): boolean {
  if (!holdsWord(text, id.kind, /[A-Za-z0-9]/)) return false;
  return (
    holdsWord(text, id.name, /[A-Za-z0-9.-]/) || templatedNames(text).some((pattern) => pattern.test(id.name))
  );
}

function holdsWord(text: string, word: string, letter: RegExp): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!letter.test(text[at - 1] ?? ' ') && !letter.test(text[at + word.length] ?? ' ')) return true;
  }
  return false;
}

const expression = /\{\{[^\n]*?\}\}|\$\{[^\n}]*\}/g;

function templatedNames(text: string): RegExp[] {
  const patterns: RegExp[] = [];
  for (const match of text.matchAll(/\bname["']?\s*:[ \t]*([^\n]+)/g)) {
    // Expressions first: their own braces and commas end nothing.
    const value = (match[1] ?? '')
      .replace(expression, '\u0000')
      .replace(/^["']/, '')
      .replace(/["',}#\s].*$/, '');
    const fixed = value.split('\u0000');
    if (fixed.length < 2 || !/[A-Za-z0-9]/.test(fixed.join(''))) continue;
    patterns.push(new RegExp(`^${fixed.map(escapeForRegExp).join('.*')}$`));
  }
  return patterns;
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
