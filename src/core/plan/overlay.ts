/**
 * Plans a folder that kustomize builds: live objects are compared with what the build gives, and edits go to the sources of the
 * build. What no build makes is planned like in any other folder.
 */
import type { FolderIndex, Tree } from '../folder/index.ts';
import { identify, type ObjectId, objectKey } from '../identity.ts';
import { type Overlay, openOverlay } from '../kustomize/index.ts';
import { createInOverlay } from './overlay-create.ts';
import { type Built, decideBuilt, type OverlayContext, type SealedPlace } from './overlay-decide.ts';
import { decideGone, decideSwept } from './overlay-gone.ts';
import { documentIndex, plainIndex } from './overlay-index.ts';
import { combine } from './overlay-result.ts';
import type { Change, Plan, PlannedEdit, PlanOptions } from './types.ts';

/** Every sealed document is opened by a program of its own. */
const openedAtOnce = 4;

/** Plans documents as they stand in a folder without kustomizations. */
export type PlanDocuments = (
  index: FolderIndex,
  changes: readonly Change[],
  options: PlanOptions,
) => Promise<Plan>;

/** Undefined when no kustomization has to do with the folder, or nobody gave a kustomize to build it. */
export async function overlayOf(
  tree: Tree,
  index: FolderIndex,
  { kustomize }: PlanOptions,
): Promise<Overlay | undefined> {
  const render = kustomize?.render;
  return render === undefined ? undefined : await openOverlay(tree, index, { ...kustomize, render });
}

export async function planOverlay(
  overlay: Overlay,
  {
    tree,
    index,
    options,
  }: { readonly tree: Tree; readonly index: FolderIndex; readonly options: PlanOptions },
  changes: readonly Change[],
  planDocuments: PlanDocuments,
): Promise<Plan> {
  const context: OverlayContext = {
    overlay,
    tree,
    index,
    plain: plainIndex(index, overlay.scope.graph),
    options,
    notices: [],
  };
  const results: Built[] = [];
  const left: Change[] = [];
  const sealed = new Map<string, Change[]>();
  const created: Change[] = [];
  for (const change of lastOfEach(changes)) {
    const pause = options.pause?.();
    if (pause !== undefined) await pause;
    if (change.kind === 'sweep') {
      results.push(...decideSwept(context, change));
      left.push(change);
      continue;
    }
    const decided: Built | SealedPlace | 'plain' | 'new' =
      change.kind === 'upsert' ? await decideBuilt(context, change) : await decideGone(context, change);
    if (decided === 'plain') left.push(change);
    else if (decided === 'new') created.push(change);
    else if (decided.kind === 'sealed')
      sealed.set(decided.path, [...(sealed.get(decided.path) ?? []), change]);
    else results.push(decided);
  }
  const plans: Plan[] = [];
  const others: PlannedEdit[] = [];
  if (left.length > 0) plans.push(await planDocuments(context.plain, left, options));
  const files = [...sealed];
  for (let at = 0; at < files.length; at += openedAtOnce) {
    const some = files.slice(at, at + openedAtOnce);
    plans.push(
      ...(await Promise.all(
        some.map(([path, own]) => planDocuments(documentIndex(index, path), own, options)),
      )),
    );
  }
  for (const change of created) {
    if (change.kind !== 'upsert') continue;
    const made = await createInOverlay(context, change, planDocuments);
    if ('edits' in made) plans.push(made);
    else {
      results.push(made.result);
      others.push(...made.others);
    }
  }
  return await combine(context, { results, plans, others });
}

/** In identity order; of two changes of one object the last one counts. */
function lastOfEach(changes: readonly Change[]): Change[] {
  const objects = new Map<string, Change>();
  const sweeps: Change[] = [];
  for (const change of changes) {
    const id = idOf(change);
    if (id === undefined) sweeps.push(change);
    else objects.set(objectKey(id), change);
  }
  return [...[...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change), ...sweeps];
}

function idOf(change: Change): ObjectId | undefined {
  if (change.kind === 'sweep') return undefined;
  const id = change.kind === 'delete' ? change.id : identify(change.live);
  if (id === undefined) throw new Error('a live object without apiVersion, kind and name was given to plan');
  return id;
}
