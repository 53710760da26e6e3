/** Splits a byte stream into lines by hand: a line is decoded once, when it is whole. */

const newline = 0x0a;

export interface LineSplitter {
  /** The lines that became whole with this chunk; 'too-long' when one exceeds the limit. */
  push(chunk: Uint8Array): string[] | 'too-long';
}

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
        if (size + line.byteLength > limit) return 'too-long';
        if (size === 0) {
          if (line.byteLength > 0) lines.push(decode(line));
        } else {
          parts.push(line);
          lines.push(Buffer.concat(parts, size + line.byteLength).toString('utf8'));
          parts.length = 0;
          size = 0;
        }
        start = end + 1;
        end = chunk.indexOf(newline, start);
      }
      if (start < chunk.byteLength) {
        const rest = chunk.subarray(start);
        size += rest.byteLength;
        if (size > limit) return 'too-long';
        parts.push(rest);
      }
      return lines;
    },
  };
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
