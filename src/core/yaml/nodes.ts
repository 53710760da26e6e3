/** The shape of one parsed document: values with the exact places they have in the text. */

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded';

interface Placed {
  /** First character of the value itself. An absent value: just after the `:` or `-` it would follow. */
  readonly start: number;
  /** Just after the last character of content, trailing comments left out; a block scalar ends after its end of line. */
  readonly end: number;
  /** First character of the anchor or tag; equal to `start` when there is neither. */
  readonly propsStart: number;
  readonly anchor: string | undefined;
  /** As written; `!!str` for the long forms of the core tags. */
  readonly tag: string | undefined;
}

export interface ScalarNode extends Placed {
  readonly kind: 'scalar';
  readonly style: ScalarStyle;
  /** The content, unescaped and unfolded, before any reading as number or boolean. */
  readonly text: string;
  readonly block: BlockScalar | undefined;
}

export interface BlockScalar {
  /** Just after the end of line of the header. */
  readonly bodyStart: number;
  /** Column of the content. */
  readonly indent: number;
  readonly chomp: '' | '-' | '+';
  /** The header states the indentation. */
  readonly indicator: boolean;
}

export interface AbsentNode extends Placed {
  readonly kind: 'absent';
}

export interface AliasNode extends Placed {
  readonly kind: 'alias';
  readonly target: Node;
}

export interface MapNode extends Placed {
  readonly kind: 'map';
  readonly flow: boolean;
  readonly pairs: readonly PairNode[];
}

export interface PairNode {
  readonly key: Node;
  /** First character of the key, or of its `?`. */
  readonly start: number;
  /** Just after the `:`, or -1 when none is written. */
  readonly colon: number;
  readonly value: Node;
  readonly end: number;
}

export interface ListNode extends Placed {
  readonly kind: 'list';
  readonly flow: boolean;
  readonly items: readonly ItemNode[];
}

export interface ItemNode {
  /** The `-`; in flow style the first character of the value. */
  readonly start: number;
  readonly value: Node;
  readonly end: number;
}

export type Node = ScalarNode | AbsentNode | AliasNode | MapNode | ListNode;

/** One parsed document over `text`, which holds the document alone. */
export interface Tree {
  readonly text: string;
  /** Where the content begins: after separator and directives. */
  readonly bodyStart: number;
  readonly root: Node;
  readonly hasAlias: boolean;
}
