/** Reads a kustomization file: what it refers to, what it sets, and which features it uses. */
import { isObject, type Json, type JsonObject } from '../json.ts';
import { decodeFile, readDocuments } from '../yaml/index.ts';
import { featureRule } from './features.ts';
import { type ImageEntry, imagePattern } from './image.ts';
import { isRemote } from './reference.ts';

export interface Reference {
  /** As written. */
  readonly text: string;
  /** The field that holds it. */
  readonly field: string;
}

export interface PatchEntry {
  readonly field: 'patches' | 'patchesStrategicMerge' | 'patchesJson6902';
  readonly index: number;
  /** As written; undefined for an inline patch. */
  readonly path?: string;
  readonly inline?: string;
  readonly target?: JsonObject;
}

export interface GeneratorEntry {
  readonly index: number;
  readonly name: string;
  readonly namespace: string;
  readonly behavior: string;
  /** `KEY=path` or a path. */
  readonly files: readonly string[];
  readonly envs: readonly string[];
  readonly literals: readonly string[];
  readonly stableName: boolean;
}

export interface Kustomization {
  readonly isComponent: boolean;
  readonly value: JsonObject;
  /** `resources` and `bases`. */
  readonly resources: readonly Reference[];
  readonly components: readonly Reference[];
  readonly patches: readonly PatchEntry[];
  readonly images: readonly ImageEntry[];
  readonly replicas: readonly { readonly name: string; readonly count: Json }[];
  readonly configMaps: readonly GeneratorEntry[];
  readonly secrets: readonly GeneratorEntry[];
  readonly namespace: string;
  readonly namePrefix: string;
  readonly nameSuffix: string;
  /** Files that only the build reads: configurations, openapi, transformers, and so on. */
  readonly inputs: readonly Reference[];
  /** Every feature in use, as `featureRules` names it. */
  readonly features: readonly string[];
}

export type Decoded =
  | { readonly ok: true; readonly kustomization: Kustomization }
  | { readonly ok: false; readonly message: string };

/** Decodes one kustomization file. apiVersion and kind may be missing. */
export function decodeKustomization(bytes: Uint8Array): Decoded {
  const file = decodeFile(bytes);
  if (!file.ok) return { ok: false, message: file.message };
  const documents = readDocuments(file.text).filter(({ kind }) => kind !== 'empty');
  const [document, ...others] = documents;
  if (document === undefined) return { ok: false, message: 'it is empty' };
  if (document.kind === 'unreadable')
    return { ok: false, message: `line ${document.line}: ${document.message}` };
  if (others.length > 0) return { ok: false, message: 'it holds more than one document' };
  if (document.kind !== 'value' || !isObject(document.value))
    return { ok: false, message: 'it is not a map of fields' };
  const problem = problemOf(document.value);
  return problem === undefined
    ? { ok: true, kustomization: decode(document.value) }
    : { ok: false, message: problem };
}

const textLists = ['resources', 'bases', 'components', 'crds', 'configurations'];
const maps = ['images', 'replicas', 'patches', 'patchesJson6902', 'configMapGenerator', 'secretGenerator'];

function problemOf(value: JsonObject): string | undefined {
  const { apiVersion, kind } = value;
  if (apiVersion !== undefined && !String(apiVersion).startsWith('kustomize.config.k8s.io/'))
    return `it is ${String(kind)} of ${String(apiVersion)}, not a kustomization`;
  if (kind !== undefined && kind !== 'Kustomization' && kind !== 'Component')
    return `its kind is ${String(kind)}, not Kustomization`;
  for (const field of textLists) {
    if (value[field] !== undefined && textsOf(value[field]).length !== sizeOf(value[field]))
      return `${field} is not a list of texts`;
  }
  for (const field of maps) {
    const list = value[field];
    if (list !== undefined && list !== null && !(Array.isArray(list) && list.every(isObject)))
      return `${field} is not a list of maps`;
  }
  for (const image of objectsOf(value.images)) {
    const name = textOf(image.name);
    if (name === '' || image.tagSuffix !== undefined) return 'an entry of images has no name, or a tagSuffix';
    if (imagePattern(name) === undefined)
      return `the name ${JSON.stringify(name)} in images is no usable regular expression`;
  }
  for (const field of ['configMapGenerator', 'secretGenerator'] as const) {
    // kustomize would repeat such a text in its error, and it may be a secret.
    const wrong = generatorsOf(value, field).find(({ literals }) =>
      literals.some((one) => !one.includes('=')),
    );
    if (wrong !== undefined) return `a literal of ${wrong.name} in ${field} is not of the form KEY=VALUE`;
  }
  const counts = objectsOf(value.replicas).map(({ count }) => count);
  if (counts.some((count) => typeof count !== 'number' || !Number.isInteger(count) || count < 0))
    return 'an entry of replicas has no whole count';
  return undefined;
}

function decode(value: JsonObject): Kustomization {
  const resources = [...references(value, 'resources'), ...references(value, 'bases')];
  const components = references(value, 'components');
  const patches = patchesOf(value);
  return {
    isComponent: value.kind === 'Component',
    value,
    resources,
    components,
    patches,
    images: [...objectsOf(value.images)].map(imageOf),
    replicas: objectsOf(value.replicas).map((entry) => ({
      name: textOf(entry.name),
      count: entry.count ?? null,
    })),
    configMaps: generatorsOf(value, 'configMapGenerator'),
    secrets: generatorsOf(value, 'secretGenerator'),
    namespace: textOf(value.namespace),
    namePrefix: textOf(value.namePrefix),
    nameSuffix: textOf(value.nameSuffix),
    inputs: inputsOf(value),
    features: featuresOf(value, [...resources, ...components], patches),
  };
}

function references(value: JsonObject, field: string): Reference[] {
  return textsOf(value[field]).map((text) => ({ text, field }));
}

function patchesOf(value: JsonObject): PatchEntry[] {
  const structured = (['patches', 'patchesJson6902'] as const).flatMap((field) =>
    objectsOf(value[field]).map((entry, index): PatchEntry => {
      const inline = textOf(entry.patch);
      return {
        field,
        index,
        ...(textOf(entry.path) === '' ? {} : { path: textOf(entry.path) }),
        ...(inline === '' ? {} : { inline }),
        ...(isObject(entry.target) ? { target: entry.target } : {}),
      };
    }),
  );
  const plain = textsOf(value.patchesStrategicMerge).map((text, index): PatchEntry => {
    const which = text.includes('\n') || /^\s*\{/.test(text) ? { inline: text } : { path: text };
    return { field: 'patchesStrategicMerge', index, ...which };
  });
  return [...plain, ...structured];
}

function generatorsOf(value: JsonObject, field: 'configMapGenerator' | 'secretGenerator'): GeneratorEntry[] {
  const shared = isObject(value.generatorOptions) && value.generatorOptions.disableNameSuffixHash === true;
  return objectsOf(value[field]).map((entry, index) => {
    const own = isObject(entry.options) && entry.options.disableNameSuffixHash === true;
    const env = textOf(entry.env);
    return {
      index,
      name: textOf(entry.name),
      namespace: textOf(entry.namespace),
      behavior: textOf(entry.behavior),
      files: textsOf(entry.files),
      envs: [...(env === '' ? [] : [env]), ...textsOf(entry.envs)],
      literals: textsOf(entry.literals),
      stableName: shared || own,
    };
  });
}

/** `KEY=path` of a generator's `files`. */
export function fileInput(text: string): { readonly key: string; readonly path: string } {
  const equals = text.indexOf('=');
  const path = equals < 0 ? text : text.slice(equals + 1);
  return { key: equals < 0 ? path.slice(path.lastIndexOf('/') + 1) : text.slice(0, equals), path };
}

/** A generator, transformer or validator may be written in place. */
function isInline(text: string): boolean {
  return text.includes('\n') || /^\s*\{/.test(text);
}

function inputsOf(value: JsonObject): Reference[] {
  const texts = ['crds', 'configurations', 'generators', 'transformers', 'validators'].flatMap((field) =>
    references(value, field).filter(({ text }) => !isInline(text)),
  );
  const openapi = isObject(value.openapi) ? textOf(value.openapi.path) : '';
  const generated = (['configMapGenerator', 'secretGenerator'] as const).flatMap((field) =>
    generatorsOf(value, field).flatMap(({ files, envs }) =>
      [...files.map((file) => fileInput(file).path), ...envs].map((text) => ({ text, field })),
    ),
  );
  const replacements = objectsOf(value.replacements).flatMap((entry) =>
    textOf(entry.path) === '' ? [] : [{ text: textOf(entry.path), field: 'replacements' }],
  );
  const opened = openapi === '' ? [] : [{ text: openapi, field: 'openapi' }];
  return [...texts, ...opened, ...generated, ...replacements];
}

function featuresOf(
  value: JsonObject,
  references: readonly Reference[],
  patches: readonly PatchEntry[],
): string[] {
  const found = new Set(Object.keys(value).filter((key) => !isAbsent(value[key])));
  if (references.some(({ text }) => isRemote(text))) found.add('remote resource');
  if (patches.some(({ inline }) => inline !== undefined)) found.add('inline patch');
  if (patches.some((patch) => isJsonPatch(patch))) found.add('JSON6902 patch');
  return [...found].sort();
}

/** Only what the kustomization itself shows; a patch file may turn out to be one, too. */
export function isJsonPatch({ field, inline }: PatchEntry): boolean {
  return field === 'patchesJson6902' || (inline !== undefined && /^\s*(?:-\s|\[)/.test(inline));
}

/** The features that refuse the build, with what to say of each. */
export function refusedFeatures({ features }: Kustomization): string[] {
  return features.filter((feature) => featureRule(feature).verdict === 'refused');
}

function imageOf(entry: JsonObject): ImageEntry {
  return {
    name: textOf(entry.name),
    newName: textOf(entry.newName),
    newTag: textOf(entry.newTag),
    digest: textOf(entry.digest),
  };
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function sizeOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : value === null || value === undefined ? 0 : -1;
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
