/** The tree a template is parsed into, and the trouble the parser reports. */

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipe: Pipe;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

export interface Pipe {
  /** Offset in the template text, for messages. */
  readonly at: number;
  /** Variables that take the result, with their `$`. */
  readonly variables: readonly string[];
  /** `=` instead of `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

/** The first operand is what is evaluated, the others are its arguments. */
export interface Command {
  readonly at: number;
  readonly operands: readonly Operand[];
}

export type Operand =
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'function'; readonly name: string }
  /** Fields of the dot; none is the dot itself. */
  | { readonly kind: 'field'; readonly names: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly names: readonly string[] }
  | { readonly kind: 'pipe'; readonly pipe: Pipe; readonly names: readonly string[] };

/** A template that cannot be used; thrown and caught inside this folder only. */
export class SyntaxTrouble extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** `line 2, column 5` of an offset. */
export function position(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `line ${line}, column ${at - before.lastIndexOf('\n')}`;
}
