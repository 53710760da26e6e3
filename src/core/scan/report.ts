/** What a scan answers. */
import type { Skipped } from '../folder/index.ts';
import type { Actor, Refusal } from '../refusal.ts';

export interface ScanReport {
  /** Folders that could be targets, in path order. */
  readonly folders: readonly FolderReport[];
  /** Folders that other folders build from, in path order. */
  readonly bases: readonly BaseReport[];
}

export interface FolderReport {
  /** Repository path, '' for the root. */
  readonly path: string;
  /** `kustomize-overlay` reads files outside of itself. */
  readonly layout: 'plain' | 'kustomize' | 'kustomize-overlay';
  readonly accepted: boolean;
  /** Why nothing of the folder is written. */
  readonly refused: readonly Refusal[];
  /** What stays as it is in an accepted folder; everything else of it is editable. Empty in a refused one. */
  readonly readOnly: readonly ReadOnlyPart[];
  /** Folders outside of it that its build reads. */
  readonly reads: readonly string[];
  /** Render roots outside of it that read its files. */
  readonly readBy: readonly string[];
  /** The one namespace of its objects. */
  readonly namespace?: string;
  readonly objects: {
    /** What an applier of the folder gets. */
    readonly total: number;
    /** Those of them whose source stands in the folder. */
    readonly inFolder: number;
    readonly encrypted: number;
  };
  readonly kinds: {
    /** Namespace -> sorted `group/version/Kind`. */
    readonly byNamespace: Readonly<Record<string, readonly string[]>>;
    /** Of objects that state no namespace. */
    readonly undeclared: readonly string[];
  };
  /** Files of the folder that hold no object we can read. */
  readonly skipped: readonly Skipped[];
  /** Other folders of the report that lie in this one, or that this one lies in. */
  readonly overlaps: readonly string[];
}

export interface ReadOnlyPart {
  /** The file it stands in. */
  readonly path: string;
  /** An object, or a feature of a kustomization. */
  readonly what: string;
  readonly why: string;
  readonly actor: Actor;
}

export interface BaseReport {
  readonly path: string;
  /** The render roots that read it. */
  readonly readBy: readonly string[];
}
