/** The objects of one build, with the file or generator each comes from. */
import { identify, metadataMap, type ObjectId } from '../identity.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { readDocuments, splitDocuments } from '../yaml/index.ts';
import { textOf } from './decode.ts';
import { resolveReference } from './reference.ts';
import type { Rendered } from './render.ts';

export interface RenderedObject {
  readonly id: ObjectId;
  /** Without the marks that only say where it comes from. */
  readonly value: JsonObject;
  /** As the build printed it. */
  readonly text: string;
  readonly origin: Origin;
}

export type Origin =
  | { readonly kind: 'file'; readonly path: string }
  /** `file`: the kustomization that holds the generator. */
  | { readonly kind: 'generator'; readonly file: string; readonly generator: string }
  | { readonly kind: 'unknown' };

const originMark = 'config.kubernetes.io/origin';
const marks: readonly string[] = [originMark, 'alpha.config.kubernetes.io/transformations'];

/** Reads what a build printed. */
export function readRender(text: string, root: string, like: readonly RenderedObject[]): Rendered {
  const known = new Map(like.map((object) => [object.text, object]));
  const objects: RenderedObject[] = [];
  for (const { start, end } of splitDocuments(text)) {
    const own = text.slice(start, end).replace(/^---\n/, '');
    const before = known.get(own);
    if (before !== undefined) {
      objects.push(before);
      continue;
    }
    const [document] = readDocuments(own);
    if (document === undefined || document.kind === 'empty') continue;
    const object = document.kind === 'value' ? objectOf(document.value, own, root) : undefined;
    if (object === undefined)
      return { ok: false, reason: 'BuildFailed', message: 'the build printed something that is no object' };
    objects.push(object);
  }
  return { ok: true, objects };
}

function objectOf(value: Json, text: string, root: string): RenderedObject | undefined {
  const id = identify(value);
  if (id === undefined || !isObject(value)) return undefined;
  const origin = originOf(metadataMap(value, 'annotations')[originMark], root);
  return { id, value: withoutMarks(value), text, origin };
}

function originOf(mark: Json | undefined, root: string): Origin {
  const [document] = typeof mark === 'string' ? readDocuments(mark) : [];
  const facts = document?.kind === 'value' && isObject(document.value) ? document.value : {};
  const path = resolveReference(root, textOf(facts.path));
  if (textOf(facts.path) !== '' && path !== undefined) return { kind: 'file', path };
  const file = resolveReference(root, textOf(facts.configuredIn));
  const by = isObject(facts.configuredBy) ? textOf(facts.configuredBy.kind) : '';
  if (textOf(facts.configuredIn) === '' || file === undefined) return { kind: 'unknown' };
  return { kind: 'generator', file, generator: by };
}

/** The object without the marks of `buildMetadata`; live objects carry them, too, when the folder asks for them. */
export function withoutMarks(object: JsonObject): JsonObject {
  const annotations = metadataMap(object, 'annotations');
  if (!isObject(object.metadata) || !marks.some((mark) => Object.hasOwn(annotations, mark))) return object;
  const kept = Object.entries(annotations).filter(([key]) => !marks.includes(key));
  const { annotations: _annotations, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) },
  };
}
