/**
 * A folder of manifests in Git: which file has which role, where the document of an object stands, where a new one goes,
 * and whether the folder can be written at all.
 *
 * It reads through a `Tree` and returns values. It knows nothing of live objects, and it changes no byte.
 * Called by core/plan, by the branch worker (one cache per target) and by `scan`.
 */
export { type BootstrapFile, bootstrapFiles, sopsConfig } from './bootstrap.ts';
export { type CachedFile, createIndexCache, type IndexCache } from './cache.ts';
export {
  compareText,
  type FolderIndex,
  indexFolder,
  type UnclearFile,
} from './folder-index.ts';
export type { IgnoreRules } from './ignore.ts';
export type { IndexedDocument, IndexedFile, Skipped } from './indexed-file.ts';
export { type FolderLayout, folderLayout } from './layout.ts';
export { countDocuments, documentsNamed, findDocument, isAutoscaled, type Lookup } from './lookup.ts';
export {
  type FileDocument,
  type ParsedFile,
  parsedFile,
  parseFile,
  type ScaleTarget,
  scaleTarget,
} from './parsed-file.ts';
export {
  type BatchScope,
  batchScope,
  checkPath,
  type PathCheck,
  type PathScope,
} from './path.ts';
export {
  type Placed,
  type PlacementQuestion,
  type PlacementSpec,
  placeDocument,
  validatePlacement,
} from './placement.ts';
export { type Role, roleOf } from './role.ts';
export {
  baseName,
  type FileMode,
  isInside,
  joinPath,
  relativeTo,
  type Tree,
  type TreeEntry,
} from './tree.ts';
export { couldDescribe } from './unclear.ts';
