/** The shapes of this folder; `index.ts` says what it is. */
import type { Json, JsonObject, Path } from '../../json.ts';
import type { RuleIndex } from './rules.ts';
import type { Meaning, TypeNode } from './types.ts';

/** Why a field of a live object is no edit although the document does not state it. */
export type Explanation =
  /** Equal to the server's default for this object. */
  | { kind: 'default' }
  /** Copied or calculated by the server from the same document or the cluster. */
  | { kind: 'computed' }
  /** Chosen by the server: cluster IPs, node ports, names of volumes. */
  | { kind: 'allocated' }
  /** Added by a controller after creation. */
  | { kind: 'controller' };

export interface ExplainField {
  readonly live: JsonObject;
  readonly path: Path;
  /** The manifest after the edit. */
  readonly document: JsonObject;
  /** Where the parent of the field stands in the document; undefined when it does not. */
  readonly documentPath: Path | undefined;
  /** The manifest before the edit, same list positions; some defaults are decided once and outlive their source. */
  readonly before?: JsonObject;
}

export interface ReadsBackField {
  readonly path: Path;
  readonly stated: Json;
  readonly live: Json | undefined;
  /** The whole document and live object; with them write-only fields are checked instead of trusted. */
  readonly document?: JsonObject;
  readonly object?: JsonObject;
}

export interface KindSchema {
  /** Keys that pair the items of the list at this path; undefined for an atomic list or a set. */
  listKeys(path: Path): readonly string[] | undefined;
  /** Values the server takes for absent list keys, as `protocol: TCP`. */
  keyDefaults(path: Path): Readonly<Record<string, Json>>;
  /** Scalars in no particular order. */
  isSet(path: Path): boolean;
  /** The whole map is one value (selectors, references). The server may still add defaults inside it. */
  isAtomicMap(path: Path): boolean;
  /** A map with free keys (labels, data, limits), whose entries stand for themselves; false where nothing is known. */
  isMap(path: Path): boolean;
  meaning(path: Path): Meaning;
  /**
   * Why a field that `live` has at `path` and `document` lacks is not an edit; undefined when a person set it. A container
   * is explained when a rule gives it or when every member is explained.
   */
  explain(field: ExplainField): Explanation | undefined;
  /** True for a container of scalars that no rule can explain one of: each of them was set by a person. False says nothing. */
  isUnexplained(path: Path, value: Json): boolean;
  /** The paths inside such a field that nothing explains; none when `explain` explains it. */
  unexplained(field: ExplainField): readonly Path[];
  /** Whether the value at the path may be a default that was decided once and that its source no longer leads to. */
  mayOutlive(path: Path, value: Json): boolean;
  /** True when `live` (undefined = absent) at `path` is how the server gives back what the document states there. */
  readsBack(field: ReadsBackField): boolean;
}

/** All that is known about a kind, for the modules of this folder. */
export interface Facts {
  readonly rules: RuleIndex;
  readonly type: TypeNode;
  /** `custom` also when the schema is unknown. */
  readonly origin: 'builtin' | 'custom';
}
