/**
 * A refusal: an edit or a folder we will not write, with the reason and who can change that.
 *
 * Refusals are values, never exceptions. One reason is one word everywhere: plan output, condition, Event, metric label.
 */
import type { ObjectId } from './identity.ts';

/** Who can mend it. `nobody` means the shape itself is not supported. */
export type Actor = 'repository-author' | 'platform-operator' | 'editor' | 'nobody';

/** Reason -> who can mend it. The one table of refusal reasons. */
export const refusalReasons = {
  /** Two documents of one identity stand in the folder. */
  Duplicate: 'repository-author',
  /** A kustomization cannot be decoded or built. */
  BrokenKustomization: 'repository-author',
  /** The folder or the document uses a kustomize feature we do not edit. */
  UnsupportedKustomize: 'repository-author',
  /** The object stands in a file we could not read, so a second document would be a twin. */
  InUnreadableFile: 'repository-author',
  /** The document uses a YAML construct that cannot be edited without changing something else. */
  NotEditable: 'repository-author',
  /** The edit has no exact place in the document's text. */
  UnplaceableEdit: 'repository-author',
  /** What was written did not read back as wanted; nothing was changed. */
  VerificationFailed: 'platform-operator',
  /** A path pattern of .gittargetignore covers the file to write. */
  IgnoreShadowsManaged: 'repository-author',
  /** .gittargetignore holds a pattern that would hide the whole folder. */
  InvalidIgnorePattern: 'repository-author',
  /** The write would leave the folder of the target, or go through a symbolic link. */
  WriteEscapesScope: 'platform-operator',
  /** The file is built by several render roots, so an edit for one would change the others. */
  WriteFanIn: 'repository-author',
  /** A file that we would write is there already and somebody else's. */
  WriteBoundaryRefused: 'repository-author',
  /** The build after the edit does not give what is live, or moves another object. */
  RenderRefused: 'repository-author',
  /** Several kustomizations, or none, could take a new object in. */
  AmbiguousLayout: 'platform-operator',
  /** There is no kustomize program to build the folder with. */
  KustomizeMissing: 'platform-operator',
  /** Another file has the same path but for the case of its letters. */
  CaseOnlyTwin: 'repository-author',
  /** The placement of a new document gives no usable path. */
  InvalidPath: 'platform-operator',
  /** A new document cannot be added to the existing file at its path. */
  MultiDocumentTarget: 'repository-author',
  /** The field holds a token that is replaced after Git, so the live value is not what Git should say. */
  RenderDoesNotMatchLive: 'repository-author',
  /** Objects of several namespaces are described by one document that states none. */
  AmbiguousNamespace: 'repository-author',
  /** Discovery does not know the kind, so a new document of it has no path. */
  UnknownKind: 'platform-operator',
  /** The document in Git has another apiVersion than any the edit can be read in. */
  VersionMismatch: 'repository-author',
  /** A sensitive object can reach Git only encrypted, and encryption is not set up. */
  EncryptionNotConfigured: 'platform-operator',
  /** A sensitive object never joins an existing plaintext file. */
  SensitiveAppend: 'platform-operator',
  /** The document is encrypted, and what the edit would change cannot be told or opened. */
  EncryptedDocument: 'platform-operator',
  /** A sensitive object stands in Git in plain text; nothing of it is written before somebody encrypts it there. */
  SensitiveInPlainText: 'repository-author',
  /** No rule of .sops.yaml matches the path, or what it encrypts is not enough. */
  SealingRuleMissing: 'repository-author',
  /** The sops program is missing or failed. */
  SealingFailed: 'platform-operator',
  /** The file is larger or deeper than what we read. */
  TooLarge: 'repository-author',
  /** The object was not changed by us: a foreign commit added, moved or changed its document since. */
  DocumentChangedSince: 'editor',
} as const satisfies Record<string, Actor>;

export type RefusalReason = keyof typeof refusalReasons;

export interface Refusal {
  readonly reason: RefusalReason;
  readonly actor: Actor;
  /** The object refused; absent when the whole folder is. */
  readonly object?: ObjectId;
  /** Repository path the refusal is about. */
  readonly path?: string;
  /** The edited fields, where they are known. */
  readonly fields?: readonly string[];
  /** One sentence for a person: the thing, the reason, what to do. Holds no secret value. */
  readonly message: string;
}

/** Makes a refusal; the actor follows from the reason. */
export function refuse(
  reason: RefusalReason,
  message: string,
  about: { object?: ObjectId; path?: string } = {},
): Refusal {
  return { reason, actor: refusalReasons[reason], message, ...about };
}
