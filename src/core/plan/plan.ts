/** Plans a batch of changes; see index.ts. */
import {
  createIndexCache,
  type FolderIndex,
  findDocument,
  folderLayout,
  type IndexedDocument,
  indexFolder,
  scaleTarget,
  type Tree,
} from '../folder/index.ts';
import { describeObject, identify, type ObjectId, objectKey } from '../identity.ts';
import { carryOut } from './carry-out.ts';
import { type Context, type Decision, refused } from './decision.ts';
import { compareObjects } from './object-order.ts';
import { overlayOf, planOverlay } from './overlay.ts';
import { createReader } from './reader.ts';
import { decideDelete, decideSweep } from './remove.ts';
import type { Change, Delete, Notice, ObjectOutcome, Plan, PlanOptions, Sweep, Upsert } from './types.ts';
import { decideUpsert } from './upsert.ts';
import { asNewFile, unlistable, withKustomization, withoutNew } from './use-kustomize.ts';

const openedAtOnce = 4;
const readAhead = 64;
/** Documents remembered when the caller brings no cache; enough for one plan of a large folder. */
const ownCacheLimit = 1_000_000;

/**
 * What the changes do to the folder. Decisions are made on the tree as it is, so the order of the changes does not matter;
 * of two changes of one object the last one counts. Throws only when the tree cannot be read.
 */
export async function plan(tree: Tree, changes: readonly Change[], options: PlanOptions): Promise<Plan> {
  const index = await indexFolder(tree, options.folder, options.cache ?? createIndexCache(ownCacheLimit));
  const overlay = await overlayOf(tree, index, options);
  if (overlay === undefined) {
    const planned = await planDocuments(tree, index, changes, options);
    const made = withKustomization(tree, index, planned, options);
    if (made === undefined) return planned;
    const missed = unlistable(index);
    if (missed !== undefined) return withoutNew(planned, missed);
    return asNewFile(await plan(made.tree, changes, options), made.path, planned);
  }
  return await planOverlay(overlay, { tree, index, options }, changes, (own, some, given) =>
    planDocuments(tree, own, some, given),
  );
}

/** Plans the documents of an index as they stand. */
async function planDocuments(
  tree: Tree,
  index: FolderIndex,
  changes: readonly Change[],
  options: PlanOptions,
): Promise<Plan> {
  const layout = folderLayout(index);
  const batch = sortOut(changes);
  if (layout.kind === 'closed') {
    const outcomes = batch.objects.map(({ object }): ObjectOutcome => ({ object, outcome: 'refused' }));
    return {
      edits: [],
      refused: layout.refusals,
      skipped: index.skipped,
      notices: [],
      unchanged: [],
      outcomes,
    };
  }
  const notices: Notice[] = [];
  const reader = createReader(tree, index);
  const context: Context = {
    tree,
    index,
    layout,
    reader,
    options,
    autoscaled: batch.autoscaled,
    notice: (notice) => notices.push(notice),
  };
  const decisions = withoutSharedDocuments(await decideAll(context, batch));
  const { edits, settled } = await carryOut(context, decisions);
  return {
    edits,
    refused: settled.flatMap((one) => (one.kind === 'refuse' ? [one.refusal] : [])),
    skipped: index.skipped,
    notices,
    unchanged: settled.flatMap((one) => (one.kind === 'unchanged' ? [one.object] : [])),
    outcomes: settled.map(outcomeOf),
  };
}

interface Batch {
  /** In identity order, one per object. */
  readonly objects: readonly { readonly object: ObjectId; readonly change: Upsert | Delete }[];
  readonly sweeps: readonly Sweep[];
  readonly autoscaled: ReadonlySet<string>;
}

function sortOut(changes: readonly Change[]): Batch {
  const objects = new Map<string, { object: ObjectId; change: Upsert | Delete }>();
  const sweeps: Sweep[] = [];
  const autoscaled = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'sweep') {
      sweeps.push(change);
      continue;
    }
    const object = change.kind === 'delete' ? change.id : identify(change.live);
    if (object === undefined)
      throw new Error('a live object without apiVersion, kind and name was given to plan');
    objects.set(objectKey(object), { object, change });
    const target = change.kind === 'upsert' ? scaleTarget(change.live, object) : undefined;
    if (target !== undefined) autoscaled.add(objectKey({ ...target, namespace: object.namespace }));
  }
  return {
    objects: [...objects.values()].sort((a, b) => compareObjects(a.object, b.object)),
    sweeps,
    autoscaled,
  };
}

type Decidable = Batch['objects'][number] & {
  /** Of its document that is read as it stands; a sealed one is read when it is opened. */
  readonly path?: string;
};

/** Every sealed document is opened by a program of its own, so a few of them are decided at once. */
function inGroups({ index }: Context, objects: Batch['objects']): Decidable[][] {
  const groups: Decidable[][] = [];
  let open: Decidable[] | undefined;
  for (const one of objects) {
    const lookup = findDocument(index, one.object, one.object.namespace !== '');
    if (lookup.kind === 'none' || !lookup.document.encrypted) {
      groups.push([lookup.kind === 'none' ? one : { ...one, path: lookup.document.path }]);
      open = undefined;
      continue;
    }
    if (open === undefined || open.length >= openedAtOnce) {
      open = [];
      groups.push(open);
    }
    open.push(one);
  }
  return groups;
}

function pathsOf(groups: readonly (readonly Decidable[])[]): string[] {
  return [...new Set(groups.flat().flatMap(({ path }) => path ?? []))];
}

async function decideAll(context: Context, batch: Batch): Promise<Decision[]> {
  const decisions: Decision[] = [];
  const decided = new Set<string>();
  const groups = inGroups(context, batch.objects);
  for (const [at, group] of groups.entries()) {
    if (at % readAhead === 0) await context.reader.ahead(pathsOf(groups.slice(at, at + readAhead)));
    const pause = context.options.pause?.();
    if (pause !== undefined) await pause;
    const some = await Promise.all(
      group.map(({ object, change }) =>
        change.kind === 'upsert' ? decideUpsert(context, change, object) : decideDelete(context, change),
      ),
    );
    for (const decision of some) {
      decisions.push(decision);
      decided.add(objectKey(decision.object));
      const document = documentOf(decision);
      if (document !== undefined) decided.add(objectKey(document.id));
    }
  }
  for (const sweep of batch.sweeps) {
    for (const decision of decideSweep(context, sweep)) {
      if (decided.has(objectKey(decision.object))) continue;
      decided.add(objectKey(decision.object));
      decisions.push(decision);
    }
  }
  return decisions;
}

/** A document that states no namespace cannot follow the objects of two. */
function withoutSharedDocuments(decisions: readonly Decision[]): Decision[] {
  const users = new Map<string, number>();
  const placeOf = (one: Decision) => {
    const document = documentOf(one);
    return document === undefined ? undefined : `${document.index} ${document.path}`;
  };
  for (const decision of decisions) {
    const place = placeOf(decision);
    if (place !== undefined) users.set(place, (users.get(place) ?? 0) + 1);
  }
  return decisions.map((decision) => {
    const place = placeOf(decision);
    if (place === undefined || (users.get(place) ?? 0) < 2) return decision;
    const path = documentOf(decision)?.path ?? '';
    const text = `${describeObject(decision.object)} shares its document in ${path} with an object of another namespace; write the namespace into the document`;
    return refused(decision.object, 'AmbiguousNamespace', text, path);
  });
}

/** The document that the decision changes or removes. */
function documentOf(decision: Decision): IndexedDocument | undefined {
  const { kind } = decision;
  return kind === 'edit' || kind === 'remove' || kind === 'seal' ? decision.document : undefined;
}

function outcomeOf(decision: Decision): ObjectOutcome {
  const { object } = decision;
  switch (decision.kind) {
    case 'edit':
    case 'remove':
      return { object, outcome: 'written', path: decision.document.path };
    case 'create':
    case 'seal':
      return { object, outcome: 'written', path: decision.path };
    case 'refuse':
      return { object, outcome: 'refused', ...pathOf(decision.refusal.path) };
    case 'never-mirrored':
      return { object, outcome: 'never-mirrored', message: decision.message };
    case 'retained':
      return { object, outcome: 'retained', path: decision.path };
    case 'unchanged':
      return { object, outcome: 'unchanged', ...pathOf(decision.path) };
  }
}

function pathOf(path: string | undefined): { path: string } | Record<string, never> {
  return path === undefined ? {} : { path };
}
