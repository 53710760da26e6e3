/**
 * Cuts a file into its YAML documents, byte for byte: the slices of any text join to that text.
 *
 * Only `---` and `...` at column 0 part documents; indented ones are content, so a block scalar is never cut. What stands
 * before the first `---` belongs to the first document as long as it is comments, blank lines and directives.
 */
import { nextLine } from './lines.ts';

/** Offsets in the file's text. The body is what the document's reader reads: no separator, no `...`, no byte order mark. */
export interface DocumentSlice {
  start: number;
  end: number;
  bodyStart: number;
  bodyEnd: number;
}

const byteOrderMark = '\uFEFF';

/** The documents of a file, in order. An empty text has one empty document. */
export function splitDocuments(text: string): DocumentSlice[] {
  const slices: DocumentSlice[] = [];
  const first = text.startsWith(byteOrderMark) ? 1 : 0;
  let open: DocumentSlice = { start: 0, end: 0, bodyStart: first, bodyEnd: -1 };
  // prefix: only comments, blank lines or directives so far; body: content or a separator was seen; ended: after `...`.
  let state: 'prefix' | 'body' | 'ended' = 'prefix';

  const close = (end: number): void => {
    open.end = end;
    if (open.bodyEnd < 0) open.bodyEnd = end;
    slices.push(open);
  };

  for (let at = first; at < text.length; ) {
    const next = nextLine(text, at);
    const marker = markerAt(text, at);
    if (marker === '---') {
      if (state !== 'prefix') {
        close(at);
        open = { start: at, end: 0, bodyStart: 0, bodyEnd: -1 };
      }
      open.bodyStart = separatorEnd(text, at, next);
      state = 'body';
    } else if (marker === '...') {
      if (state !== 'ended') open.bodyEnd = at;
      state = 'ended';
    } else if (state === 'ended' && !isComment(text, at, next)) {
      close(at);
      open = { start: at, end: 0, bodyStart: at, bodyEnd: -1 };
      state = text[at] === '%' ? 'prefix' : 'body';
    } else if (state === 'prefix' && text[at] !== '%' && !isComment(text, at, next)) {
      state = 'body';
    }
    at = next;
  }
  close(text.length);
  return slices;
}

/** Whether the line at `at` starts with a document marker: three characters, then white space or the end. */
function markerAt(text: string, at: number): '---' | '...' | undefined {
  const char = text[at];
  if (char !== '-' && char !== '.') return undefined;
  if (text[at + 1] !== char || text[at + 2] !== char) return undefined;
  const after = text[at + 3];
  if (after !== undefined && !/\s/.test(after)) return undefined;
  return char === '-' ? '---' : '...';
}

/** Where the body begins: on the next line, or on the separator's own line when content stands there. */
function separatorEnd(text: string, at: number, next: number): number {
  const rest = text.slice(at + 3, next).trimStart();
  return rest === '' || rest.startsWith('#') ? next : at + 3;
}

function isComment(text: string, at: number, next: number): boolean {
  const line = text.slice(at, next).trimStart();
  return line === '' || line.startsWith('#');
}
