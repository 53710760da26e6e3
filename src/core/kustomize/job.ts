/** One object's edit on its way to the sources: what is known of the object, and what is still to be placed. */
import type { KindSchema } from '../intent/schema/index.ts';
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { type Layer, uniqueLayers } from './layers.ts';
import { type AppliedPatch, type MetPatches, patchesOf } from './patches.ts';
import { type Scope, type Source, writeProblem } from './source.ts';
import type { SourceDocument, Workspace } from './workspace.ts';

export interface Job {
  readonly scope: Scope;
  readonly files: Workspace;
  readonly schema: KindSchema;
  readonly source: Source;
  /** Innermost first, each once. */
  readonly layers: readonly Layer[];
  /** The outermost kustomization that may be written. */
  readonly home: Layer | undefined;
  readonly patches: MetPatches;
  /** What the build gives. */
  readonly built: JsonObject;
  /** What is wanted; edits that were placed are taken back out of it. */
  wanted: JsonObject;
  canWrite(path: string): boolean;
  /** Whether the document, or the patch, that states a value may be written. */
  canWriteStated(patch: AppliedPatch | undefined): boolean;
  /** Sets one place of the document or the patch. */
  setStated(patch: AppliedPatch | undefined, path: Path, value: Json): Promise<boolean>;
}

export async function openJob(
  scope: Scope,
  files: Workspace,
  source: Source,
  edit: { readonly schema: KindSchema; readonly built: JsonObject; readonly wanted: JsonObject },
): Promise<Job> {
  const layers = uniqueLayers(source.layers);
  const canWrite = (path: string): boolean => writeProblem(scope, path) === undefined;
  const { document } = source;
  const canWriteStated = (patch: AppliedPatch | undefined): boolean =>
    patch === undefined
      ? document.notEditable === undefined && canWrite(document.path)
      : patch.path !== undefined && canWrite(patch.path);
  return {
    ...edit,
    scope,
    files,
    source,
    layers,
    home: layers.findLast(({ node }) => canWrite(node.file)),
    patches: await patchesOf(source, files),
    canWrite,
    canWriteStated,
    async setStated(patch, path, value) {
      const place = patch?.path === undefined ? await currentDocument(files, document) : patch;
      if (place?.path === undefined) return false;
      return (await files.set(place.path, place.index, setAt(place.value, path, value))).ok;
    },
  };
}

/** The document as it stands now: an earlier edit of the batch may have moved it. */
export async function currentDocument(
  files: Workspace,
  { path, id }: SourceDocument,
): Promise<SourceDocument | undefined> {
  return (await files.objects(path)).find(
    ({ id: other }) =>
      other.group === id.group &&
      other.kind === id.kind &&
      other.namespace === id.namespace &&
      other.name === id.name,
  );
}

/** The object with a value at a path that is there. */
export function setAt(object: JsonObject, path: Path, value: Json): JsonObject {
  const changed = change(object, path, value);
  return isObject(changed) ? changed : object;
}

function change(at: Json | undefined, path: Path, value: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number')
    return Array.isArray(at)
      ? at.map((item, index) => (index === step ? change(item, rest, value) : item))
      : [];
  const map = isObject(at) ? at : {};
  return { ...map, [step]: change(map[step], rest, value) };
}
