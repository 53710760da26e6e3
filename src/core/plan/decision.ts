/** What is to happen with one object, decided on the tree as it was before the batch. */
import type { FolderIndex, FolderLayout, IndexedDocument, Tree } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';
import type { Notice as IntentNotice } from '../intent/index.ts';
import { type CrdSchemas, type KindSchema, kindSchema } from '../intent/schema/index.ts';
import type { JsonObject } from '../json.ts';
import { type Refusal, type RefusalReason, refuse } from '../refusal.ts';
import type { Concealed } from '../sealed/index.ts';
import type { Reader } from './reader.ts';
import type { Notice, PlanOptions } from './types.ts';

/** The fields that are edits as `formatPath` prints them. */
interface Fields {
  readonly fields: readonly string[];
  readonly overwritten: readonly string[];
}

/** A document to write. */
export interface Wanted extends Fields {
  readonly object: ObjectId;
  readonly desired: JsonObject;
}

/** A document to write sealed. */
export interface WantedSealed extends Fields {
  readonly object: ObjectId;
  readonly path: string;
  readonly desired: Concealed<JsonObject>;
  /** Undefined for a new file. */
  readonly document?: IndexedDocument;
  /** What the sealed document says now; absent when no key opens it, and then all of it is sealed anew. */
  readonly opened?: Concealed<JsonObject>;
}

export type Decision =
  | { readonly kind: 'unchanged'; readonly object: ObjectId; readonly path?: string }
  | { readonly kind: 'never-mirrored'; readonly object: ObjectId; readonly message: string }
  | { readonly kind: 'retained'; readonly object: ObjectId; readonly path: string }
  | { readonly kind: 'refuse'; readonly object: ObjectId; readonly refusal: Refusal }
  | (Wanted & { readonly kind: 'edit'; readonly document: IndexedDocument; readonly schema: KindSchema })
  | (Wanted & { readonly kind: 'create'; readonly path: string })
  | (WantedSealed & { readonly kind: 'seal' })
  | { readonly kind: 'remove'; readonly object: ObjectId; readonly document: IndexedDocument };

/** What every decision may look at. */
export interface Context {
  readonly tree: Tree;
  readonly index: FolderIndex;
  readonly layout: Exclude<FolderLayout, { kind: 'closed' }>;
  readonly reader: Reader;
  readonly options: PlanOptions;
  /** Keys of the objects whose size a live autoscaler of this batch sets. */
  readonly autoscaled: ReadonlySet<string>;
  notice(notice: Notice): void;
}

export function refused(
  object: ObjectId,
  reason: RefusalReason,
  message: string,
  path?: string,
): Extract<Decision, { kind: 'refuse' }> {
  return {
    kind: 'refuse',
    object,
    refusal: refuse(reason, message, { object, ...(path === undefined ? {} : { path }) }),
  };
}

export function tell(
  context: Context,
  object: ObjectId,
  notices: readonly IntentNotice[],
  path: string | undefined,
): void {
  for (const { code, message } of notices) {
    context.notice({ object, code, message, ...(path === undefined ? {} : { path }) });
  }
}

export function schemaOf(object: JsonObject, crds: CrdSchemas | undefined): KindSchema {
  return kindSchema(String(object.apiVersion), String(object.kind), crds);
}
