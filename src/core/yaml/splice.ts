/** A splice replaces one stretch of the document's text; an edit is a list of them that do not overlap. */

export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies splices to `text` between two offsets and returns that stretch. Splices at one place apply in list order, and
 * inserts before replacements. Undefined when two overlap or one leaves the stretch.
 */
export function applySplices(
  text: string,
  splices: readonly Splice[],
  start = 0,
  end = text.length,
): string | undefined {
  const sorted = splices.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let result = '';
  let at = start;
  for (const splice of sorted) {
    if (splice.start < at || splice.end > end) return undefined;
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at, end);
}
