/**
 * One file on its way: its objects are made on the server, read back and planned, then edited live one field at a time and
 * planned again, the file going on as each plan left it.
 */
import { scaleTarget } from '../../src/core/folder/index.ts';
import type { ObjectId } from '../../src/core/identity.ts';
import { knownAppliers } from '../../src/core/intent/index.ts';
import { equalJson, isObject, type Json, type JsonObject, valueAt } from '../../src/core/json.ts';
import { builtinResource, type Change, type Plan, plan } from '../../src/core/plan/index.ts';
import type { RefusalReason } from '../../src/core/refusal.ts';
import { neverMirrored, sanitize } from '../../src/core/sanitize/index.ts';
import { encodeFile } from '../../src/core/yaml/index.ts';
import type { Random } from '../core/yaml/fuzz/random.ts';
import type { Answer, Api, Place } from './api.ts';
import { isRefusedByDesign } from './by-design.ts';
import { candidateEdits, type EditKind, type LiveEdit, livePath } from './edits.ts';
import { changedLines, inexact } from './exact.ts';
import { type Manifest, type ManifestFile, manifestsIn } from './manifests.ts';
import { readSettled, untilGone } from './settled.ts';
import type { Tally } from './tally.ts';

/** Who made the objects: a person with kubectl, or Flux. */
export type Maker = 'person' | 'Flux';

export interface Journey {
  readonly api: Api;
  readonly file: ManifestFile;
  readonly maker: Maker;
  /** For objects that state none. */
  readonly namespace: string;
  readonly random: Random;
  readonly tally: Tally;
}

interface Made {
  readonly manifest: Manifest;
  readonly index: number;
  readonly place: Place;
  live: JsonObject;
}

const ways = [
  { name: 'mirror', applierKnown: false, isHandled: false },
  { name: 'mirror, handled', applierKnown: false, isHandled: true },
  { name: 'Flux folder', applierKnown: true, isHandled: false },
  { name: 'Flux folder, handled', applierKnown: true, isHandled: true },
] as const;

type Way = (typeof ways)[number];

const editKinds: readonly EditKind[] = ['change', 'add', 'remove'];
/** The server refuses most edits of some kinds. */
const triesPerEdit = 25;

export async function travel(journey: Journey): Promise<void> {
  const made = await makeAll(journey);
  try {
    for (const one of made) one.live = await readSettled(journey.api, one.place);
    const mirrored = await planReadBack(journey, made);
    let { text } = journey.file;
    for (const one of mirrored) {
      for (const kind of editKinds) text = await editOne(journey, made, one, kind, text);
    }
    for (const one of made) one.live = await readSettled(journey.api, one.place);
    for (const way of ways) {
      const problem = await secondPass(text, made, way, { ...journey, isOpen: true });
      if (problem !== undefined)
        journey.tally.wrong('edit', journey, `${way.name}: the controllers wrote, and ${problem}`);
    }
  } finally {
    // Namespaces last: they take what is in them along.
    for (const { place } of made.toReversed()) await journey.api.delete(place);
    for (const { place } of made) await untilGone(journey.api, place);
  }
}

async function makeAll(journey: Journey): Promise<Made[]> {
  const { api, file, namespace, tally } = journey;
  const made: Made[] = [];
  for (const [index, manifest] of file.manifests.entries()) {
    const { value, id } = manifest;
    const stated = id.namespace === '' ? { ...id, namespace } : id;
    const collection = await api.collection(String(value.apiVersion), stated);
    const answer = collection === undefined ? notServed : await makeOne(journey, manifest, collection);
    if (answer.kind === 'refused') {
      tally.count(`not accepted from ${journey.maker}`, manifest, answer.reason);
      continue;
    }
    tally.count('accepted', manifest, journey.maker);
    const place = `${collection}/${id.name}`;
    const live = id.kind === 'CustomResourceDefinition' ? await readSettled(api, place) : answer.object;
    made.push({ manifest, index, place, live });
  }
  return made;
}

const notServed: Answer = { kind: 'refused', reason: 'kind not served', message: '' };
const fluxLabels = {
  'kustomize.toolkit.fluxcd.io/name': 'shop',
  'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
};

async function makeOne({ api, maker }: Journey, manifest: Manifest, collection: string): Promise<Answer> {
  if (maker === 'person') return await api.createText(collection, manifest.text);
  const { value, id } = manifest;
  const metadata = isObject(value.metadata) ? value.metadata : {};
  const labels = { ...(isObject(metadata.labels) ? metadata.labels : {}), ...fluxLabels };
  const there = await api.get(`${collection}/${id.name}`);
  if (there.kind === 'ok') return { kind: 'refused', reason: 'AlreadyExists', message: id.name };
  const [applier] = knownAppliers.Flux;
  return await api.apply(
    `${collection}/${id.name}`,
    { ...value, metadata: { ...metadata, labels } },
    applier,
  );
}

/** Plans what was read back, in every way. Returns the objects that are mirrored at all. */
async function planReadBack(journey: Journey, made: readonly Made[]): Promise<Made[]> {
  const { file, tally } = journey;
  const changed = new Set<string>();
  for (const way of ways) {
    const planned = await planFile(file.text, made, way, journey, (one) => one.live);
    for (const { content } of planned.edits)
      tally.wrong(
        'read back',
        journey,
        `${way.name}: read back, it is changed: ${changedLines(file.text, textOf(content) ?? '')}`,
      );
    for (const refusal of planned.refused)
      tally.wrong('read back', journey, `${way.name}: read back, it is refused: ${refusal.message}`);
    for (const { object, outcome } of planned.outcomes)
      if (outcome !== 'unchanged') changed.add(nameOf(object));
  }
  const mirrored = made.filter(({ live }) => neverMirrored(live) === undefined);
  for (const one of made) {
    if (!mirrored.includes(one)) tally.count('never mirrored', one.manifest, one.manifest.id.kind);
    else if (!changed.has(nameOf(one.manifest.id))) tally.count('unchanged', one.manifest, journey.maker);
  }
  return mirrored;
}

/** Without the namespace, which a document need not state. */
function nameOf({ group, kind, name }: Omit<ObjectId, 'namespace'>): string {
  return `${group}/${kind}/${name}`;
}

/** Makes one edit and judges what is planned for it, in every way. Returns the file as it goes on. */
async function editOne(
  journey: Journey,
  made: readonly Made[],
  one: Made,
  kind: EditKind,
  text: string,
): Promise<string> {
  const { tally } = journey;
  const { manifest, live: before } = one;
  const edit = await makeEdit(journey, made, one, kind, text);
  if (edit === undefined) {
    tally.count('no edit', manifest, `${kind} ${manifest.id.kind}`);
    return text;
  }
  const what = `${kind} ${edit.path.join('.')} of ${manifest.id.kind} ${manifest.id.name}`;
  const handledOf = (other: Made) => (other === one ? before : other.live);
  const results = new Set<string>();
  const refused = new Set<RefusalReason>();
  let problems = 0;
  for (const way of ways) {
    const report = (problem: string): void => {
      problems += 1;
      tally.wrong('edit', journey, `${way.name}: ${what}: ${problem}`);
    };
    const planned = await planFile(text, made, way, journey, handledOf);
    for (const { reason, message } of planned.refused) {
      if (isRefusedByDesign(reason, manifest)) refused.add(reason);
      else report(message);
    }
    // What is refused as a Secret has to be exact as anything else.
    const open = { ...journey, isOpen: true };
    const written = planned.refused.length === 0 ? planned : await planFile(text, made, way, open, handledOf);
    const after = textOf(written.edits[0]?.content) ?? text;
    results.add(after);
    const problem = judge(edit, one, text, after) ?? (await secondPass(after, made, way, open));
    if (problem !== undefined) report(`${problem}: ${changedLines(text, after)}`);
  }
  if (results.size > 1) tally.wrong('edit', journey, `${what}: the ways differ`);
  for (const reason of refused) tally.count('refused by design', manifest, reason);
  if (refused.size === 0 && problems === 0 && results.size === 1) tally.count('exact', manifest, kind);
  return [...results][0] ?? text;
}

function judge(
  edit: LiveEdit,
  { manifest, index, live }: Made,
  before: string,
  after: string,
): string | undefined {
  if (after === before) return 'nothing is planned';
  const problem = inexact(edit, before, after, live);
  // What is left where something was removed is for the second pass to judge.
  if (problem !== undefined || edit.kind === 'remove') return problem;
  const stated = valueAt(manifestsIn(after)[index]?.value, edit.path);
  const now = valueAt(live, livePath(manifest, edit.path));
  return equalJson(stored(edit, stated), now) ? undefined : `the file says ${JSON.stringify(stated)} now`;
}

function textOf(content: Uint8Array | undefined): string | undefined {
  return content === undefined ? undefined : Buffer.from(content).toString('utf8');
}

function stored({ path }: LiveEdit, value: Json | undefined): Json | undefined {
  return path[0] === 'stringData' && typeof value === 'string'
    ? Buffer.from(value).toString('base64')
    : value;
}

/** Once written, an edit is in sync: nothing more is planned, whether or not it is known as handled. */
async function secondPass(
  text: string,
  made: readonly Made[],
  way: Way,
  journey: Journey & { isOpen: boolean },
): Promise<string | undefined> {
  const again = await planFile(text, made, way, journey, (one) => one.live);
  const [edit] = again.edits;
  return edit === undefined
    ? undefined
    : `a second pass plans ${changedLines(text, textOf(edit.content) ?? '')}`;
}

/** Tries candidates until the server takes one that changes something; the object is as it is after it. */
async function makeEdit(
  { api, random }: Journey,
  made: readonly Made[],
  one: Made,
  kind: EditKind,
  text: string,
): Promise<LiveEdit | undefined> {
  const manifest = manifestsIn(text)[one.index] ?? one.manifest;
  const isScaled = made.some(({ manifest: { value, id } }) => {
    const target = scaleTarget(value, id);
    return target !== undefined && nameOf(target) === nameOf(manifest.id);
  });
  const candidates = candidateEdits(kind, text, manifest, one.live, random).filter(
    // The autoscaler would take it back.
    ({ path }) => !(isScaled && path.join('.') === 'spec.replicas'),
  );
  for (const edit of candidates.slice(0, triesPerEdit)) {
    const answer = await api.edit(one.place, edit.patch);
    if (answer.kind === 'refused') continue;
    const { object: live } = answer;
    const isChanged = !equalJson(sanitize(live), sanitize(one.live));
    one.live = live;
    if (isChanged) return edit;
  }
  return undefined;
}

async function planFile(
  text: string,
  made: readonly Made[],
  way: Way,
  { file, isOpen = false }: Journey & { isOpen?: boolean },
  handledOf: (one: Made) => JsonObject,
): Promise<Plan> {
  const path = `apps/shop/${file.path.slice(file.path.lastIndexOf('/') + 1)}`;
  const bytes = encodeFile(text);
  const entry = { path, mode: '100644', id: text, size: bytes.length } as const;
  const changes = made.map((one): Change => {
    const handled = way.isHandled ? { handled: sanitize(handledOf(one)) } : {};
    return { kind: 'upsert', live: one.live, applierKnown: way.applierKnown, ...handled };
  });
  return await plan({ entries: () => [entry], read: async () => bytes }, changes, {
    folder: 'apps/shop',
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: knownAppliers.Flux, ignore: [] },
    isSensitive: ({ group, kind }) => !isOpen && group === '' && kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
  });
}
