/** Splits a byte stream into lines by hand: a line is decoded once, when it is whole. */

const newline = 0x0a;

interface Lines {
  /** The lines that became whole, empty ones left out. */
  readonly lines: readonly string[];
  /** The line after these exceeds the limit; nothing more can be read. */
  readonly tooLong: boolean;
}

export interface LineSplitter {
  push(chunk: Uint8Array): Lines;
}

/** @param limit bytes of one line */
export function lineSplitter(limit: number): LineSplitter {
  const parts: Uint8Array[] = [];
  let size = 0;
  return {
    push(chunk) {
      const lines: string[] = [];
      let start = 0;
      let end = chunk.indexOf(newline);
      while (end >= 0) {
        const line = chunk.subarray(start, end);
        if (size + line.byteLength > limit) return { lines, tooLong: true };
        const text = complete(line);
        if (text !== '') lines.push(text);
        start = end + 1;
        end = chunk.indexOf(newline, start);
      }
      keep(chunk.subarray(start));
      return { lines, tooLong: size > limit };
    },
  };

  function complete(line: Uint8Array): string {
    if (size === 0) return decode(line);
    parts.push(line);
    const text = Buffer.concat(parts, size + line.byteLength).toString('utf8');
    parts.length = 0;
    size = 0;
    return text;
  }

  function keep(rest: Uint8Array): void {
    if (rest.byteLength === 0) return;
    parts.push(rest);
    size += rest.byteLength;
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
