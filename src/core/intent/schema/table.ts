/**
 * The committed facts: what servers fill in (`server-defaults.json`), what the built-in kinds are made of
 * (`builtin-types.json`) and the schemas of the Flux and Argo CD kinds (`builtin-crds.json`). Data only.
 */
import type { Json, JsonObject } from '../../json.ts';
import crds from './builtin-crds.json' with { type: 'json' };
import types from './builtin-types.json' with { type: 'json' };
import defaults from './server-defaults.json' with { type: 'json' };

export interface RawCondition {
  readonly at: string;
  readonly in: 'live' | 'document';
  /** Present, and not null or empty; or the opposite. */
  readonly set?: boolean;
  /** Written at all, even as an empty object. */
  readonly stated?: true;
  readonly is?: readonly Json[];
  readonly not?: readonly Json[];
}

export interface RawRule {
  readonly why?: 'computed' | 'allocated' | 'controller';
  readonly is?: Json;
  readonly oneOf?: readonly Json[];
  readonly by?: string;
  readonly from?: string;
  readonly if?: readonly RawCondition[];
  readonly replaces?: readonly Json[];
  readonly sticky?: boolean;
  readonly stated?: boolean;
  readonly overwrites?: boolean;
}

/** Owner (a kind with its version, a part, or `*`) -> path -> facts. */
type ByPath<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

export interface DefaultsTable {
  /** Part -> where it sits, as `owner path`. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
  readonly rules: ByPath<readonly RawRule[]>;
  /** Stated zero values that read back as absent. */
  readonly vanish: ByPath<readonly Json[]>;
  readonly rewritten: ByPath<readonly string[]>;
}

export interface TypesTable {
  /** `apps/v1/Deployment` -> type name. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Type name -> field -> type text. */
  readonly types: ByPath<string>;
}

// The compiler's own view of these files is one literal type per entry; the tests read every entry.
export const defaultsTable = defaults as unknown as DefaultsTable;
export const typesTable = types as unknown as TypesTable;
/** `group/version/Kind` -> schema, reduced to what this folder reads. */
export const crdTable = crds as unknown as Readonly<Record<string, JsonObject>>;
