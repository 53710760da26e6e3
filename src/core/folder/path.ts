/**
 * Rules for a path we are about to write: it stays in the target's folder, and means the same file on every checkout.
 */
import { isInside, type TreeEntry } from './tree.ts';

const maxSegmentBytes = 255;
const maxPathBytes = 1024;

export type PathProblem = 'InvalidPath' | 'WriteEscapesScope' | 'CaseOnlyTwin';

export type PathCheck =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: PathProblem; readonly message: string };

/** What stands in the repository, in the form the path rules need. Built once per tree. */
export interface PathScope {
  readonly folder: string;
  /** Folded spelling -> the spelling that stands there, for files and folders. */
  readonly spellings: ReadonlyMap<string, string>;
  readonly files: ReadonlySet<string>;
  /** Symbolic links and submodules: nothing is written through them or over them. */
  readonly barriers: ReadonlySet<string>;
}

export function pathScope(entries: readonly TreeEntry[], folder: string): PathScope {
  const spellings = new Map<string, string>();
  const files = new Set<string>();
  const barriers = new Set<string>();
  for (const entry of entries) {
    files.add(entry.path);
    if (entry.mode === '120000' || entry.mode === '160000') barriers.add(entry.path);
    for (const prefix of prefixesFromTheEnd(entry.path)) {
      const folded = fold(prefix);
      if (spellings.has(folded)) break;
      spellings.set(folded, prefix);
    }
  }
  return { folder, spellings, files, barriers };
}

/** The rules for the new paths of one batch, which must not be twins of each other either. */
export interface BatchScope {
  /** Checks a path and, when it is accepted, counts it as standing there. */
  claim(path: string): PathCheck;
}

export function batchScope(scope: PathScope): BatchScope {
  const spellings = new Map(scope.spellings);
  const files = new Set(scope.files);
  return {
    claim(path) {
      const check = checkPath(path, { ...scope, spellings, files });
      if (!check.ok) return check;
      files.add(path);
      for (const prefix of prefixesFromTheEnd(path)) {
        if (!spellings.has(fold(prefix))) spellings.set(fold(prefix), prefix);
      }
      return check;
    },
  };
}

/** Checks a repository path that a write would create or change. */
export function checkPath(path: string, scope: PathScope): PathCheck {
  const shape = pathShapeProblem(path);
  if (shape !== undefined) return { ok: false, reason: 'InvalidPath', message: `${quote(path)} ${shape}` };
  if (!isInside(path, scope.folder)) {
    return {
      ok: false,
      reason: 'WriteEscapesScope',
      message: `${quote(path)} lies outside ${quote(scope.folder)}`,
    };
  }
  for (const prefix of prefixesFromTheEnd(path)) {
    if (scope.barriers.has(prefix)) {
      return {
        ok: false,
        reason: 'WriteEscapesScope',
        message: `${quote(prefix)} is a symbolic link or a submodule, and nothing is written through it`,
      };
    }
    if (prefix !== path && scope.files.has(prefix)) {
      return { ok: false, reason: 'InvalidPath', message: `${quote(prefix)} is a file, not a folder` };
    }
    const spelling = scope.spellings.get(fold(prefix));
    if (spelling !== undefined && spelling !== prefix) {
      return {
        ok: false,
        reason: 'CaseOnlyTwin',
        message: `${quote(prefix)} differs from ${quote(spelling)} only in the case of its letters`,
      };
    }
  }
  if (!scope.files.has(path) && scope.spellings.has(fold(path))) {
    return { ok: false, reason: 'InvalidPath', message: `${quote(path)} is a folder` };
  }
  return { ok: true, path };
}

/** Most paths there are: nothing below can be wrong with them. */
const plainPath = /^[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*$/;

/** What is wrong with the path as text, as the end of a sentence; undefined when it is a clean relative path. */
export function pathShapeProblem(path: string): string | undefined {
  if (path.length <= maxSegmentBytes && plainPath.test(path)) return undefined;
  if (path === '') return 'is empty';
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u.test(path)) return 'holds a control character';
  if (!path.isWellFormed()) return 'is not valid Unicode';
  if (path.includes('\\')) return 'holds a backslash';
  if (path.startsWith('/')) return 'is not relative';
  if (bytesOf(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'holds an empty segment';
    if (segment === '.' || segment === '..') return `holds the segment ${quote(segment)}`;
    if (bytesOf(segment) > maxSegmentBytes) return `has a segment longer than ${maxSegmentBytes} bytes`;
    if (isGitDirectory(segment)) return `holds a segment that git keeps for itself (${quote(segment)})`;
  }
  return undefined;
}

/**
 * `.git` in every spelling that some file system takes for it: other case, trailing dots and blanks, a stream suffix,
 * the short name `git~1`, and code points that HFS+ ignores.
 */
function isGitDirectory(segment: string): boolean {
  const visible = segment.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase();
  const stem = visible.replace(/:.*$/, '').replace(/[. ]+$/, '');
  return stem === '.git' || /^git~\d+$/.test(stem);
}

/** One spelling for all that a case-insensitive or normalising file system takes for the same name. */
function fold(path: string): string {
  return (isAscii.test(path) ? path : path.normalize('NFC')).toLowerCase();
}

const isAscii = /^[\u0000-\u007f]*$/;

function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function quote(path: string): string {
  return JSON.stringify(path);
}

/** `a/b/c`, `a/b`, `a`. */
function* prefixesFromTheEnd(path: string): Generator<string> {
  for (let at = path; at !== ''; ) {
    yield at;
    const slash = at.lastIndexOf('/');
    at = slash < 0 ? '' : at.slice(0, slash);
  }
}
