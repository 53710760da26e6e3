/**
 * What we ask of the real kustomize, and its answer read as objects.
 *
 * The program runs in a rim (src/render); here is only what goes in and what comes out. One root is built from exactly the files
 * it reads, so the same files give the same objects, and an earlier answer can be taken again.
 */
import { createHash } from 'node:crypto';
import { compareText } from '../folder/index.ts';
import { isObject } from '../json.ts';
import { decodeFile, editDocument, encodeFile, printDocument, readDocuments } from '../yaml/index.ts';
import { type RenderedObject, readRender } from './rendered.ts';

export interface RenderFile {
  /** Repository path. */
  readonly path: string;
  readonly content: Uint8Array;
}

export interface RenderRequest {
  /** Folder of the kustomization to build, '' for the repository root. */
  readonly root: string;
  readonly files: readonly RenderFile[];
}

export type RenderOutput =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      /** `Unavailable`: there is no kustomize; nothing of the repository is wrong. */
      readonly reason: 'Unavailable' | 'BuildFailed' | 'TimedOut' | 'TooLarge';
      /** One clause for a person. */
      readonly message: string;
    };

/** Implemented by src/render. */
export interface Render {
  build(request: RenderRequest): Promise<RenderOutput>;
}

export type Rendered =
  | { readonly ok: true; readonly objects: readonly RenderedObject[] }
  | Extract<RenderOutput, { readonly ok: false }>;

/** A file to build from: its content is read only when no earlier answer fits. */
export interface SourceFile {
  readonly path: string;
  /** Names exactly this content, as a blob id does. */
  readonly id: string;
  read(): Promise<Uint8Array>;
}

/** Answers by content, the least recently used dropped first. Belongs to the caller who keeps it between plans. */
export interface RenderCache {
  get(key: string): Rendered | undefined;
  set(key: string, rendered: Rendered): void;
}

/** `limit` counts objects. */
export function createRenderCache(limit: number): RenderCache {
  const answers = new Map<string, Rendered>();
  let held = 0;
  const weigh = (rendered: Rendered): number => (rendered.ok ? rendered.objects.length + 1 : 1);
  return {
    get(key) {
      const answer = answers.get(key);
      if (answer === undefined) return undefined;
      answers.delete(key);
      answers.set(key, answer);
      return answer;
    },
    set(key, rendered) {
      // Without the program the answer says nothing about the files; a slow machine may be quicker next time.
      if (!rendered.ok && rendered.reason !== 'BuildFailed') return;
      const before = answers.get(key);
      if (before !== undefined) held -= weigh(before);
      answers.delete(key);
      answers.set(key, rendered);
      held += weigh(rendered);
      for (const [oldest, dropped] of answers) {
        if (held <= limit || oldest === key) break;
        answers.delete(oldest);
        held -= weigh(dropped);
      }
    },
  };
}

/** Builds a root. `like` lends the objects whose text is the same, so that only what changed is parsed. */
export async function renderRoot(
  render: Render,
  cache: RenderCache,
  root: { readonly folder: string; readonly file: string },
  files: readonly SourceFile[],
  like: readonly RenderedObject[] = [],
): Promise<Rendered> {
  const sorted = files.toSorted((a, b) => compareText(a.path, b.path));
  const key = keyOf(root.folder, sorted);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const contents = await Promise.all(
    sorted.map(async (file): Promise<RenderFile> => {
      const content = await file.read();
      return { path: file.path, content: file.path === root.file ? withOrigins(content) : content };
    }),
  );
  const output = await render.build({ root: root.folder, files: contents });
  const rendered: Rendered = output.ok ? readRender(output.text, root.folder, like) : output;
  cache.set(key, rendered);
  return rendered;
}

function keyOf(root: string, files: readonly SourceFile[]): string {
  const hash = createHash('sha256').update(`${root}\0`);
  for (const { path, id } of files) hash.update(`${path}\0${id}\0`);
  return hash.digest('hex');
}

/** The id git gives a blob of this content. */
export function blobId(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** The kustomization of the scratch copy asks kustomize to say where every object comes from. */
function withOrigins(content: Uint8Array): Uint8Array {
  const decoded = decodeFile(content);
  if (!decoded.ok) return content;
  const { text } = decoded;
  const documents = readDocuments(text);
  const index = documents.findIndex(({ kind }) => kind === 'value');
  const document = documents[index];
  if (document?.kind !== 'value' || !isObject(document.value)) return content;
  const before = Array.isArray(document.value.buildMetadata) ? document.value.buildMetadata : [];
  if (before.includes('originAnnotations')) return content;
  const wanted = { ...document.value, buildMetadata: [...before, 'originAnnotations'] };
  const edited = editDocument(text, index, wanted, { listKeys: () => undefined });
  // Nobody sees this copy, so its style does not matter.
  return encodeFile(edited.ok ? edited.text : printDocument(wanted));
}
