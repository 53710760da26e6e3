/** What a plan is asked and what it answers. */
import type { IndexCache, ParsedFile, PlacementSpec, Skipped } from '../folder/index.ts';
import type { ObjectId } from '../identity.ts';
import type { ManagerRules, NoticeCode } from '../intent/index.ts';
import type { CrdSchemas } from '../intent/schema/index.ts';
import type { JsonObject } from '../json.ts';
import type { KustomizeOptions, PostBuild } from '../kustomize/index.ts';
import type { Refusal } from '../refusal.ts';
import type { Mask, Sealer } from '../sealed/index.ts';
import type { ResourceType } from './resource.ts';

/** What the applier of an object fills in after Git. */
export interface Substitution {
  readonly postBuild?: PostBuild;
  /** As in `PlanOptions`. */
  readonly isSubstituted?: boolean;
}

/** The live object as the API server returns it. */
export interface Upsert {
  readonly kind: 'upsert';
  readonly live: JsonObject;
  /** The sanitized live object as it was last handled. */
  readonly handled?: JsonObject;
  /** Makes the digests that stand for values in `handled`, where the object is sensitive and the handled state is masked. */
  readonly mask?: Mask;
  /** It was handled and has changed since; said where the handled state itself is lost. */
  readonly changed?: boolean;
  /** Id of the file's blob when the object was last handled. Decides only where Git's state cannot be read. */
  readonly documentBlob?: string;
  /** A person asked to have the live state written as it is. Decides only where Git's state cannot be read. */
  readonly asked?: boolean;
  /** Documents at revisions the applier may have applied, when there is no handled state. */
  readonly candidates?: readonly JsonObject[];
  /** False: nobody applies this folder, it is a mirror. */
  readonly applierKnown: boolean;
  /** Instead of `PlanOptions.managers`, when the object has an applier of its own. */
  readonly managers?: ManagerRules;
  /** Instead of what the options say, when the object has an applier of its own. */
  readonly substitution?: Substitution;
  /** True when a live autoscaler sets the object's size; autoscalers in the folder and in this batch are found here. */
  readonly autoscaled?: boolean;
}

export interface Delete {
  readonly kind: 'delete';
  readonly id: ObjectId;
  /** The sanitized live object as it was last handled. Without it and without `documentBlob` nothing is compared. */
  readonly handled?: JsonObject;
  readonly mask?: Mask;
  /** Id of the file's blob when the object was last handled: the same blob is the same document, readable or not. */
  readonly documentBlob?: string;
  readonly substitution?: Substitution;
  /** Watched as DELETED, or absent from a complete snapshot after having been handled. */
  readonly reason: 'observed' | 'absent';
}

/** Everything of one collection that a complete snapshot did not hold. Removes only with prune `Always`. */
export interface Sweep {
  readonly kind: 'sweep';
  readonly group: string;
  /** The objects' kind. */
  readonly of: string;
  /** Absent for all namespaces and for cluster-scoped kinds. */
  readonly namespace?: string;
  /** `objectKey` of what the snapshot held. */
  readonly present: ReadonlySet<string>;
}

export type Change = Upsert | Delete | Sweep;

export type PruneMode = 'Never' | 'OnEvent' | 'Always';

export interface PlanOptions {
  /** Path of the target's folder, '' for the repository root. */
  readonly folder: string;
  readonly placement: PlacementSpec;
  /** Unset and true: a new document states its namespace. False: it never does. */
  readonly serializeNamespace?: boolean;
  readonly prune: PruneMode;
  readonly managers: ManagerRules;
  readonly crds?: CrdSchemas;
  readonly isSensitive: (id: ObjectId) => boolean;
  /** Opens and seals documents. Without it nothing sealed is read and nothing sensitive is written. */
  readonly sealer?: Sealer;
  /**
   * A sealed document that no key opens and whose object is seen for the first time counts as what is live. False: it is refused,
   * since nobody remembers it for the next time.
   */
  readonly adoptsUnread?: boolean;
  /** Discovery; `builtinResource` is the fall-back for callers without one. */
  readonly resourceOf: (apiVersion: string, kind: string) => ResourceType | undefined;
  /**
   * The applier replaces `${…}` after Git (Flux postBuild). A field that holds such a token is not written over. False: nobody
   * does, and a text that looks like a token is a text.
   */
  readonly isSubstituted?: boolean;
  /** For folders that kustomize builds. Without it they are refused. */
  readonly kustomize?: KustomizeOptions;
  /** Write README.md and .gittargetignore with the first edit when the branch holds no path under the folder. */
  readonly bootstrap: boolean;
  /** Keeps parse results between plans; without it everything is parsed. */
  readonly cache?: IndexCache;
  /** Asked between objects of a large batch; what it returns is awaited, so that others on the same thread get a turn. */
  readonly pause?: () => Promise<void> | undefined;
  /** Told of a file's content as soon as it is proven, long before a large plan is whole; the plan may still drop it. */
  readonly drafted?: (content: Uint8Array) => void;
}

export interface EditedField {
  readonly object: ObjectId;
  /** As `formatPath` prints it. */
  readonly field: string;
}

export interface PlannedEdit {
  /** Repository path. */
  readonly path: string;
  readonly action: 'create' | 'edit' | 'delete';
  readonly mode: '100644' | '100755';
  /** The whole file; absent for a delete. */
  readonly content?: Uint8Array;
  /** What a folder's index would read in the content, since proving the edit read it already; absent for large files. */
  readonly parsed?: ParsedFile;
  readonly objects: readonly ObjectId[];
  readonly fields: readonly EditedField[];
  /** Fields whose value in Git was newer than what was handled; the live value won. */
  readonly overwritten: readonly EditedField[];
}

export interface Notice {
  readonly object: ObjectId;
  readonly code: NoticeCode;
  /** One sentence for a person. */
  readonly message: string;
  /** Where the document stands, when there is one. */
  readonly path?: string;
}

export type Outcome =
  /** In `edits`; the handled state is persisted once that is published. */
  | 'written'
  /** Git already says what is live, or nothing of the change is an edit. */
  | 'unchanged'
  | 'refused'
  /** Gone live, kept in Git by the prune mode. */
  | 'retained'
  | 'never-mirrored';

export interface ObjectOutcome {
  readonly object: ObjectId;
  readonly outcome: Outcome;
  /** Where the document stands, or stood. */
  readonly path?: string;
  /** Why, for `never-mirrored`. */
  readonly message?: string;
}

export interface Plan {
  /** In path order. */
  readonly edits: readonly PlannedEdit[];
  readonly refused: readonly Refusal[];
  readonly skipped: readonly Skipped[];
  readonly notices: readonly Notice[];
  readonly unchanged: readonly ObjectId[];
  /** One per object of the changes, and one per document a sweep removed, kept or could not remove. */
  readonly outcomes: readonly ObjectOutcome[];
}
