/** Places in a text: lines, columns, ends of line. Offsets are UTF-16 code units, columns count from 0. */

/** Offset of the first character of the line that holds `at`. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Offset just after the end of line that ends the line holding `at`; the text's length on the last line. */
export function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** Offset of the end of line character(s) that end the line holding `at`. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end < 0) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The 1-based number of the line that holds `at`. */
export function lineNumber(text: string, at: number): number {
  return lineCounter(text)(at);
}

/** Tells the 1-based numbers of lines, for offsets that do not go back, in one pass over the text. */
export function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (at) => {
    while (next >= 0 && next < at) {
      line += 1;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
}

/** The end of line most lines of the text use; `\n` when it has none. */
export function dominantEol(text: string): '\n' | '\r\n' {
  let windows = 0;
  let unix = 0;
  for (let next = text.indexOf('\n'); next >= 0; next = text.indexOf('\n', next + 1)) {
    if (text[next - 1] === '\r') windows += 1;
    else unix += 1;
  }
  return windows > unix ? '\r\n' : '\n';
}

/** Column of the comment when the line starting at `start` holds nothing else, else -1. */
export function commentColumn(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ') at += 1;
  return text[at] === '#' ? at - start : -1;
}

/** Whether the line starting at `start` exists and holds only white space. */
export function isBlankLine(text: string, start: number): boolean {
  if (start >= text.length) return false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\n') return true;
    if (char !== ' ' && char !== '\t' && char !== '\r') return false;
  }
  return true;
}
