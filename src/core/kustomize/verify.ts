/**
 * Judges edits by building: what was meant has to come out as wanted, and nothing else may move, in every root that reads an
 * edited file.
 */
import { describeObject, objectKey } from '../identity.ts';
import { changesBetween } from '../intent/index.ts';
import type { KindSchema } from '../intent/schema/index.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../json.ts';
import type { Overlay } from './overlay.ts';
import { ownersOf } from './project.ts';
import type { RenderedObject } from './rendered.ts';
import { withoutHash } from './source.ts';
import { equalUnordered } from './source-form.ts';
import type { Workspace } from './workspace.ts';

/** What a build has to give for one object. */
export interface Expectation {
  readonly root: string;
  /** The object as it is built before the edit; undefined for a new one. */
  readonly before: RenderedObject | undefined;
  /** Undefined when it has to be gone. */
  readonly wanted: JsonObject | 'anything' | undefined;
  /** The key of the wanted object. */
  readonly key: string;
  readonly schema: KindSchema;
  /** The file of a new object. */
  readonly path?: string;
}

export interface Verdict {
  /** By expectation that was not met: what is wrong, for a person. */
  readonly failed: ReadonlyMap<Expectation, string>;
  /** What moved although nobody meant it to, or why a build failed. */
  readonly collateral: string | undefined;
  /** The program gave no answer about the files; to ask again for a part of the edits is of no use. */
  readonly halted?: true;
}

export async function verify(
  overlay: Overlay,
  files: Workspace,
  expectations: readonly Expectation[],
): Promise<Verdict> {
  const failed = new Map<Expectation, string>();
  const changed = new Set(files.changes().map(({ path }) => path));
  const { graph } = overlay.scope;
  for (const { root, files: read } of graph.reaches.values()) {
    const own = expectations.filter((one) => one.root === root);
    if (own.length === 0 && ![...read].some((path) => changed.has(path))) continue;
    const before = await overlay.build(root, overlay.files);
    // A root that did not build before cannot be judged; none of its files is one that we write.
    if (!before.ok) continue;
    const after = await overlay.build(root, files);
    if (!after.ok) {
      const collateral = `kustomize cannot build the result: ${after.message}`;
      return { failed, collateral, ...(after.reason === 'BuildFailed' ? {} : { halted: true }) };
    }
    const moved = compare(overlay, before.objects, after.objects, own, failed);
    if (moved !== undefined) return { failed, collateral: moved };
  }
  return { failed, collateral: undefined };
}

function compare(
  overlay: Overlay,
  before: readonly RenderedObject[],
  after: readonly RenderedObject[],
  expectations: readonly Expectation[],
  failed: Map<Expectation, string>,
): string | undefined {
  const now = new Map(after.map((object) => [objectKey(object.id), object]));
  const meant = new Set<string>();
  const renames = new Map<string, string>();
  const places = new Map(expectations.map((one) => [one, foundAs(one, now, after)]));
  for (const [expectation, found] of places) {
    for (const key of [expectation.key, ...keysOf(expectation.before), ...keysOf(found)]) meant.add(key);
    const old = expectation.before?.id.name;
    if (found !== undefined && old !== undefined && old !== found.id.name) renames.set(old, found.id.name);
  }
  for (const [expectation, found] of places) {
    const problem = problemOf(overlay, expectation, found, renames);
    if (problem !== undefined) failed.set(expectation, problem);
  }
  const then = new Map(before.map((object) => [objectKey(object.id), object]));
  for (const [key, object] of then) {
    if (meant.has(key)) continue;
    const other = now.get(key);
    if (other === undefined) return `${describeObject(object.id)} would be gone`;
    if (other.text !== object.text && !equalJson(renamed(object.value, renames), other.value))
      return `${describeObject(object.id)} would change, too`;
  }
  for (const { id, origin } of after) {
    if (then.has(objectKey(id)) || meant.has(objectKey(id))) continue;
    // Of a new object that comes up under another name its file tells.
    const maker = expectations.find(({ path }) => origin.kind === 'file' && origin.path === path);
    if (maker === undefined) return `${describeObject(id)} would come up, too`;
    failed.set(maker, `the build would give ${describeObject(id)} instead`);
  }
  return undefined;
}

function keysOf(object: RenderedObject | undefined): string[] {
  return object === undefined ? [] : [objectKey(object.id)];
}

/** A generated object gets another name with other content. */
function foundAs(
  { key, before, wanted }: Expectation,
  now: ReadonlyMap<string, RenderedObject>,
  after: readonly RenderedObject[],
): RenderedObject | undefined {
  const exact = now.get(key);
  if (exact !== undefined || before?.origin.kind !== 'generator' || wanted === undefined) return exact;
  const stem = withoutHash(before.id.name);
  return after.find(
    ({ id, origin }) =>
      origin.kind === 'generator' &&
      id.kind === before.id.kind &&
      id.namespace === before.id.namespace &&
      withoutHash(id.name) === stem,
  );
}

function problemOf(
  { scope }: Overlay,
  { wanted: meant, schema, root, before }: Expectation,
  found: RenderedObject | undefined,
  renames: ReadonlyMap<string, string>,
): string | undefined {
  if (meant === undefined) return found === undefined ? undefined : 'the build would still give it';
  if (found === undefined) return 'the build would not give it';
  if (meant === 'anything') return undefined;
  const own = before?.id.name;
  // It names a generated object that gets another name in the same batch.
  const others = new Map([...renames].filter(([name]) => name !== own));
  const changed = renamed(meant, others);
  const wanted = isObject(changed) ? changed : meant;
  const value =
    before !== undefined && before.id.name !== found.id.name
      ? withName(found.value, before.id.name)
      : found.value;
  if (equalUnordered(schema, [], wanted, value)) return undefined;
  const field = changesBetween(schema, wanted, value)[0]?.where ?? 'a list in another order';
  const owners = ownersOf(scope, root);
  return `the build does not give ${field} as it is live${owners === '' ? '' : `; it may be set by ${owners}`}`;
}

function withName(object: JsonObject, name: string): JsonObject {
  return isObject(object.metadata) ? { ...object, metadata: { ...object.metadata, name } } : object;
}

/** Other objects name a generated one. */
function renamed(value: Json, renames: ReadonlyMap<string, string>): Json {
  if (renames.size === 0) return value;
  if (typeof value === 'string') return renames.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, renames));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, renamed(member, renames)]));
}
