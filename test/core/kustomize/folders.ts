/** Small repositories in memory, opened as kustomize folders with the real program. */
import { createIndexCache, indexFolder, type Tree } from '../../../src/core/folder/index.ts';
import { objectKey } from '../../../src/core/identity.ts';
import { kindSchema } from '../../../src/core/intent/schema/index.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import {
  createRenderCache,
  type KustomizeOptions,
  type Overlay,
  type OverlayChange,
  openOverlay,
  type RenderedObject,
  type Settled,
  settle,
} from '../../../src/core/kustomize/index.ts';
import { blobId } from '../../../src/core/kustomize/render.ts';
import { createKustomize } from '../../../src/render/index.ts';
import { part } from '../../cluster/parts.ts';

export type Texts = Readonly<Record<string, string>>;

export function treeOf(texts: Texts, links: readonly string[] = []): Tree {
  const files = Object.entries(texts).map(([path, text]) => {
    const bytes = new TextEncoder().encode(text);
    return {
      bytes,
      entry: { path, mode: '100644' as const, id: blobId(bytes), size: bytes.length },
    };
  });
  const bytes = new Map(files.map((file) => [file.entry.path, file.bytes]));
  const entries = [
    ...files.map(({ entry }) => entry),
    ...links.map((path) => ({ path, mode: '120000' as const, id: path, size: 1 })),
  ];
  return {
    entries: () => entries,
    read: async (path) => bytes.get(path) ?? Promise.reject(new Error(`${path} is not in the tree`)),
  };
}

export const render = createKustomize({ program: part('kustomize') });
const cache = createRenderCache(50_000);

export async function open(
  texts: Texts,
  folder: string,
  options: Partial<KustomizeOptions> = {},
): Promise<Overlay> {
  const tree = treeOf(texts);
  const index = await indexFolder(tree, folder, createIndexCache(10_000));
  const overlay = await openOverlay(tree, index, { render, cache, ...options });
  if (overlay === undefined) throw new Error(`${folder} is no kustomize folder`);
  return overlay;
}

/** The one built object of a kind and name. */
export function built(
  overlay: Overlay,
  kind: string,
  name: string,
): { root: string; object: RenderedObject } {
  const found = overlay.builds.flatMap(({ root, objects }) =>
    objects.filter(({ id }) => id.kind === kind && id.name === name).map((object) => ({ root, object })),
  );
  const [only, ...others] = found;
  if (only === undefined || others.length > 0)
    throw new Error(`${kind}/${name} is built ${found.length} times: ${JSON.stringify(overlay.failures)}`);
  return only;
}

/** An edit of one built object. */
export function edit(
  overlay: Overlay,
  kind: string,
  name: string,
  change: (object: Editable) => void,
): Extract<OverlayChange, { kind: 'edit' }> {
  const { root, object } = built(overlay, kind, name);
  const wanted = structuredClone(object.value);
  change(new Editable(wanted));
  return {
    kind: 'edit',
    key: objectKey(object.id),
    edit: { root, object, wanted, schema: schemaOf(wanted) },
  };
}

export function removal(
  overlay: Overlay,
  kind: string,
  name: string,
): Extract<OverlayChange, { kind: 'remove' }> {
  const { root, object } = built(overlay, kind, name);
  return {
    kind: 'remove',
    key: objectKey(object.id),
    remove: { root, object, schema: schemaOf(object.value) },
  };
}

export function schemaOf(object: JsonObject) {
  return kindSchema(String(object.apiVersion), String(object.kind), undefined);
}

/** A value that is changed by path; list items go by name. */
export class Editable {
  readonly #object: JsonObject;

  constructor(object: JsonObject) {
    this.#object = object;
  }

  set(path: string, value: Json): void {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    const at = this.#walk(steps);
    if (isObject(at)) at[last] = value;
    else throw new Error(`${path} is not there`);
  }

  remove(path: string): void {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    const at = this.#walk(steps);
    if (isObject(at)) delete at[last];
    else if (Array.isArray(at)) at.splice(positionIn(at, last), 1);
  }

  push(path: string, value: Json): void {
    const at = this.#walk(path.split('.'));
    if (!Array.isArray(at)) throw new Error(`${path} is no list`);
    at.push(value);
  }

  get(path: string): Json | undefined {
    return this.#walk(path.split('.'));
  }

  #walk(steps: readonly string[]): Json | undefined {
    let at: Json | undefined = this.#object;
    for (const step of steps) {
      if (Array.isArray(at)) at = at[positionIn(at, step)];
      else at = isObject(at) ? at[step] : undefined;
    }
    return at;
  }
}

function positionIn(list: readonly Json[], step: string): number {
  const named = list.findIndex((item) => isObject(item) && item.name === step);
  return named < 0 ? Number(step) : named;
}

export interface Outcome {
  /** Repository paths and their text after the edits; undefined for a removed file. */
  readonly changed: Readonly<Record<string, string | undefined>>;
  readonly refused: readonly string[];
  readonly settled: Settled;
  readonly texts: Texts;
}

/** Settles changes and gives the repository after them. */
export async function apply(
  texts: Texts,
  overlay: Overlay,
  changes: readonly OverlayChange[],
): Promise<Outcome> {
  const settled = await settle(overlay, changes);
  const changed = Object.fromEntries(settled.files.changes().map(({ path, text }) => [path, text]));
  const after = Object.entries({ ...texts, ...changed }).filter(([, text]) => text !== undefined);
  return {
    changed,
    refused: [...settled.refused.values()].map(({ reason, message }) => `${reason}: ${message}`),
    settled,
    texts: Object.fromEntries(after) as Texts,
  };
}

/** Every built object by key. */
export function objectsOf(overlay: Overlay): Map<string, JsonObject> {
  return new Map(
    overlay.builds.flatMap(({ root, objects }) =>
      objects.map(({ value, id }) => [`${root} ${objectKey(id)}`, value] as const),
    ),
  );
}
