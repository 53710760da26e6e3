/** What a Flux Kustomization fills in after the build, from the object and the ConfigMaps and Secrets it names. */
import { identify } from '../identity.ts';
import { isObject, type JsonObject } from '../json.ts';
import { objectsOf, textOf } from './decode.ts';
import type { PostBuild, VariableValue } from './variables.ts';

/**
 * Undefined when the Kustomization has no postBuild. `sources`: the ConfigMaps and Secrets it may name, as the API server or Git
 * holds them. `where`: the file of the Kustomization, when it is known.
 */
export function postBuildOf(
  kustomization: JsonObject,
  sources: readonly JsonObject[],
  where?: string,
): PostBuild | undefined {
  const { spec } = kustomization;
  const postBuild = isObject(spec) && isObject(spec.postBuild) ? spec.postBuild : undefined;
  if (postBuild === undefined) return undefined;
  const id = identify(kustomization);
  const name = id === undefined ? 'the Kustomization' : `Kustomization ${id.namespace}/${id.name}`;
  const place = where === undefined ? name : `${where} (${name})`;
  const variables = new Map<string, VariableValue>();
  const unread: string[] = [];
  for (const reference of objectsOf(postBuild.substituteFrom)) {
    const what = `${textOf(reference.kind)} ${id?.namespace ?? ''}/${textOf(reference.name)}`;
    const source = sources.find((one) => isNamed(one, reference, id?.namespace ?? ''));
    if (source === undefined) unread.push(what);
    else for (const [key, value] of valuesOf(source)) variables.set(key, { value, where: what });
  }
  const inline = isObject(postBuild.substitute) ? postBuild.substitute : {};
  for (const [key, value] of Object.entries(inline))
    variables.set(key, { value: oneLine(String(value)), where: place });
  return { variables, unread, where: place };
}

/** `Kind/name` of the ConfigMaps and Secrets that a Kustomization takes values from. */
export function substituteSources({ spec }: JsonObject): string[] {
  const postBuild = isObject(spec) && isObject(spec.postBuild) ? spec.postBuild : {};
  return objectsOf(postBuild.substituteFrom).map(({ kind, name }) => `${textOf(kind)}/${textOf(name)}`);
}

function isNamed(object: JsonObject, reference: JsonObject, namespace: string): boolean {
  const id = identify(object);
  return (
    id !== undefined &&
    id.group === '' &&
    id.kind === reference.kind &&
    id.name === reference.name &&
    (id.namespace === namespace || id.namespace === '')
  );
}

function valuesOf(source: JsonObject): [string, string][] {
  // An encrypted document holds no values.
  if (isObject(source.sops)) return [];
  const isSecret = source.kind === 'Secret';
  const data = Object.entries(isObject(source.data) ? source.data : {}).map(
    ([key, value]): [string, string] => [key, isSecret ? fromBase64(textOf(value)) : textOf(value)],
  );
  const plain = Object.entries(isSecret && isObject(source.stringData) ? source.stringData : {});
  return [...data, ...plain.map(([key, value]): [string, string] => [key, textOf(value)])].map(
    ([key, value]) => [key, oneLine(value)],
  );
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.codePointAt(0) ?? 0));
}

/** Flux takes line ends out. */
function oneLine(text: string): string {
  return text.replaceAll('\n', '');
}
