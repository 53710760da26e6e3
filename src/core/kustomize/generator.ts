/**
 * A live ConfigMap back into the inputs of its configMapGenerator: a file, a line of an env file, or a literal.
 *
 * An input that anything else reads, too, is not written: the build cannot show what the edit would do there.
 */
import { isInside, joinPath } from '../folder/index.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../json.ts';
import { fileInput, type GeneratorEntry, textOf, textsOf } from './decode.ts';
import { editKustomization, withGenerator } from './kustomization-edits.ts';
import type { Projection } from './project.ts';
import { parentOf, resolveReference } from './reference.ts';
import { type GeneratorSource, type Scope, writeProblem } from './source.ts';
import type { Workspace } from './workspace.ts';

type Input =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'env'; readonly path: string; readonly key: string }
  | { readonly kind: 'literal' };

/** Writes the changed data of a generated ConfigMap. */
export async function projectGenerated(
  scope: Scope,
  files: Workspace,
  source: GeneratorSource,
  built: JsonObject,
  wanted: JsonObject,
): Promise<Projection> {
  const { entry, layer } = source;
  const file = layer.node.file;
  const { data: before, ...frame } = built;
  const { data: after, ...wantedFrame } = wanted;
  if (!equalJson(frame, wantedFrame))
    return refuse('only the data of a generated ConfigMap can be edited', file);
  if (entry.behavior !== '' && entry.behavior !== 'create')
    return refuse(`its generator entry has the behavior ${entry.behavior}`, file);
  const inputs = await inputsOf(files, source);
  const have = isObject(before) ? before : {};
  const want = isObject(after) ? after : {};
  for (const key of new Set([...Object.keys(have), ...Object.keys(want)])) {
    if (equalJson(have[key], want[key])) continue;
    const value = Object.hasOwn(want, key) ? want[key] : undefined;
    if (value !== undefined && typeof value !== 'string') return refuse(`data.${key} is no text`, file);
    const input = inputs.get(key) ?? newInput(source, inputs, key);
    if (input === undefined)
      return refuse(`data.${key} has no input, and a new one could be of several kinds`, file);
    const problem = await writeInput(scope, files, source, key, input, value);
    if (problem !== undefined) return refuse(problem, file);
  }
  return { ok: true };
}

function refuse(message: string, path: string): Projection {
  return { ok: false, reason: 'UnplaceableEdit', message, path };
}

/** Input files are read as a whole, so two entries of one key cannot be: kustomize refuses them. */
async function inputsOf(files: Workspace, { entry, layer }: GeneratorSource): Promise<Map<string, Input>> {
  const inputs = new Map<string, Input>();
  for (const text of entry.files) {
    const { key, path } = fileInput(text);
    const full = resolveReference(layer.node.folder, path);
    if (full !== undefined) inputs.set(key, { kind: 'file', path: full });
  }
  for (const text of entry.envs) {
    const path = resolveReference(layer.node.folder, text);
    for (const key of path === undefined ? [] : envKeys((await files.text(path)) ?? ''))
      inputs.set(key, { kind: 'env', path: path ?? '', key });
  }
  for (const literal of entry.literals)
    inputs.set(literal.slice(0, literal.indexOf('=')), { kind: 'literal' });
  return inputs;
}

function envKeys(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return /^\s*(?:#|$)/.test(line) || at < 0 ? [] : [line.slice(0, at).trim()];
  });
}

/** A new key goes where all others are. */
function newInput(
  { entry, layer }: GeneratorSource,
  inputs: ReadonlyMap<string, Input>,
  key: string,
): Input | undefined {
  const kinds = new Set([...inputs.values()].map(({ kind }) => kind));
  if (kinds.size > 1) return undefined;
  const [kind] = kinds;
  if (kind === 'env' && entry.envs.length === 1)
    return { kind: 'env', path: resolveReference(layer.node.folder, entry.envs[0] ?? '') ?? '', key };
  if (kind !== 'file') return kind === 'env' ? undefined : { kind: 'literal' };
  const first = [...inputs.values()][0];
  return first?.kind === 'file' ? { kind: 'file', path: joinPath(parentOf(first.path), key) } : undefined;
}

async function writeInput(
  scope: Scope,
  files: Workspace,
  source: GeneratorSource,
  key: string,
  input: Input,
  value: string | undefined,
): Promise<string | undefined> {
  if (input.kind === 'literal') return await setLiteral(scope, files, source, key, value);
  const { path } = input;
  const problem = await inputProblem(scope, files, source, path);
  if (problem !== undefined) return problem;
  if (input.kind === 'env') return await setEnv(files, path, key, value);
  const isNew = !files.has(path);
  if (value === undefined) {
    files.write(path, undefined);
    return await setFiles(files, source, (listed) => listed.filter((one) => fileInput(one).key !== key));
  }
  files.write(path, value);
  if (!isNew) return undefined;
  return await setFiles(files, source, (listed) => [
    ...listed,
    path.slice(source.layer.node.folder.length + 1),
  ]);
}

/** Why an input is not ours to write. */
export async function inputProblem(
  scope: Scope,
  files: Workspace,
  { entry, layer }: GeneratorSource,
  path: string,
): Promise<string | undefined> {
  const problem = writeProblem(scope, path);
  if (problem !== undefined) return problem;
  const others = [...scope.graph.nodes.values()].flatMap((node) => {
    if (!node.decoded.ok) return [];
    const { configMaps, secrets, patches, inputs } = node.decoded.kustomization;
    const generators = [...configMaps, ...secrets].filter((one) => !(node === layer.node && one === entry));
    const leads = (text: string): boolean => resolveReference(node.folder, text) === path;
    const isRead =
      node.documents.includes(path) ||
      patches.some((patch) => patch.path !== undefined && leads(patch.path)) ||
      generators.some((one) => readsOf(one).some(leads)) ||
      inputs.some(({ field, text }) => !field.endsWith('Generator') && leads(text));
    return isRead ? [node.file] : [];
  });
  const release = await releaseNaming(scope, files, path);
  const reader = others[0] ?? release;
  return reader === undefined ? undefined : `${path} is shared: ${reader} reads it, too`;
}

function readsOf({ files, envs }: GeneratorEntry): string[] {
  return [...files.map((file) => fileInput(file).path), ...envs];
}

/** A HelmRelease or Application of the folder that names the file as values; a match of the name is enough. */
async function releaseNaming(scope: Scope, files: Workspace, path: string): Promise<string | undefined> {
  const paths = new Set([...scope.graph.reaches.values()].flatMap((reach) => [...reach.files]));
  for (const candidate of paths) {
    if (!/\.ya?ml$/.test(candidate) || !isInside(candidate, scope.folder)) continue;
    for (const { value } of await files.objects(candidate)) {
      const named = valuesFiles(value).map((text) => text.replace(/^\$[^/]+\//, '').replace(/^\.\//, ''));
      if (named.some((name) => path === name || path.endsWith(`/${name}`))) return candidate;
    }
  }
  return undefined;
}

function valuesFiles({ kind, spec }: JsonObject): string[] {
  if (!isObject(spec)) return [];
  if (kind === 'HelmRelease') {
    const chart = isObject(spec.chart) && isObject(spec.chart.spec) ? spec.chart.spec : {};
    return [...textsOf(chart.valuesFiles), textOf(chart.valuesFile)].filter((one) => one !== '');
  }
  if (kind !== 'Application') return [];
  const sources: Json[] = [spec.source ?? null, ...(Array.isArray(spec.sources) ? spec.sources : [])];
  return sources.flatMap((one) => (isObject(one) && isObject(one.helm) ? textsOf(one.helm.valueFiles) : []));
}

async function setLiteral(
  scope: Scope,
  files: Workspace,
  { entry, layer }: GeneratorSource,
  key: string,
  value: string | undefined,
): Promise<string | undefined> {
  const { file } = layer.node;
  const problem = writeProblem(scope, file);
  if (problem !== undefined) return problem;
  const change = (one: JsonObject): JsonObject => {
    const listed = textsOf(one.literals);
    const at = listed.findIndex((text) => text.startsWith(`${key}=`));
    if (value === undefined) return { ...one, literals: listed.filter((_text, index) => index !== at) };
    if (at < 0) return { ...one, literals: [...listed, `${key}=${value}`] };
    return { ...one, literals: listed.map((text, index) => (index === at ? `${key}=${value}` : text)) };
  };
  const edited = await editKustomization(files, file, withGenerator(entry.name, entry.namespace, change));
  return edited.ok ? undefined : edited.message;
}

async function setFiles(
  files: Workspace,
  { entry, layer }: GeneratorSource,
  change: (listed: string[]) => string[],
): Promise<string | undefined> {
  const edit = (one: JsonObject): JsonObject => ({ ...one, files: change(textsOf(one.files)) });
  const edited = await editKustomization(
    files,
    layer.node.file,
    withGenerator(entry.name, entry.namespace, edit),
  );
  return edited.ok ? undefined : edited.message;
}

async function setEnv(
  files: Workspace,
  path: string,
  key: string,
  value: string | undefined,
): Promise<string | undefined> {
  if (value !== undefined && /[\r\n]/.test(value))
    return `data.${key} has several lines, and ${path} holds one a line`;
  const text = (await files.text(path)) ?? '';
  const lines = text.split('\n');
  const at = lines.findLastIndex((line) => envKeys(line)[0] === key);
  if (at >= 0 && value === undefined) lines.splice(at, 1);
  else if (at >= 0)
    lines[at] = `${(lines[at] ?? '').split('=')[0]}=${value}${lines[at]?.endsWith('\r') ? '\r' : ''}`;
  else if (lines.at(-1) === '') lines.splice(-1, 0, `${key}=${value}`);
  else lines.push(`${key}=${value}`);
  files.write(path, lines.join('\n'));
  return undefined;
}

/** Takes a generator entry away, and the inputs that nothing else reads. */
export async function dropGenerated(
  scope: Scope,
  files: Workspace,
  source: GeneratorSource,
): Promise<Projection> {
  const { entry, layer } = source;
  const { file, folder } = layer.node;
  const problem = writeProblem(scope, file);
  if (problem !== undefined)
    return {
      ok: false,
      reason: 'WriteEscapesScope',
      message: `its generator is read-only: ${problem}`,
      path: file,
    };
  const edited = await editKustomization(
    files,
    file,
    withGenerator(entry.name, entry.namespace, () => undefined),
  );
  if (!edited.ok) return refuse(edited.message, file);
  for (const reference of readsOf(entry)) {
    const path = resolveReference(folder, reference);
    if (path === undefined || (await inputProblem(scope, files, source, path)) !== undefined) continue;
    files.write(path, undefined);
  }
  return { ok: true };
}
