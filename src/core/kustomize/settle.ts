/**
 * Carries a batch of edits out in a workspace and lets the builds judge it. What is not proved is refused, object by object, and
 * the rest goes on.
 */
import type { JsonObject } from '../json.ts';
import type { ObjectCreation } from './create.ts';
import { projectCreate } from './create.ts';
import type { Overlay } from './overlay.ts';
import { attempts, type ObjectEdit, type Projection, projectEdit } from './project.ts';
import { type DeletePatch, type ObjectRemoval, projectRemove, restoreDeleted } from './remove.ts';
import { type Expectation, verify } from './verify.ts';
import type { Workspace } from './workspace.ts';

export type OverlayChange =
  | { readonly kind: 'edit'; readonly edit: ObjectEdit; readonly restore?: DeletePatch; readonly key: string }
  | { readonly kind: 'create'; readonly create: ObjectCreation; readonly key: string }
  | { readonly kind: 'remove'; readonly remove: ObjectRemoval; readonly key: string };

export interface Settled {
  readonly files: Workspace;
  /** The changes that are in the files now. */
  readonly done: ReadonlySet<OverlayChange>;
  readonly refused: ReadonlyMap<OverlayChange, Extract<Projection, { readonly ok: false }>>;
  /** The files that each change wrote. */
  readonly touched: ReadonlyMap<OverlayChange, readonly string[]>;
}

/** Builds that one batch may ask for; beyond it the rest of the batch waits for the next one. */
const maxRenders = 100;

export async function settle(overlay: Overlay, changes: readonly OverlayChange[]): Promise<Settled> {
  const refused = new Map<OverlayChange, Extract<Projection, { ok: false }>>();
  const level = new Map<OverlayChange, number>();
  const touched = new Map<OverlayChange, readonly string[]>();
  const limit = overlay.renders.count + maxRenders;
  let files = overlay.files.fork();
  let done: OverlayChange[] = [];

  async function solve(open: readonly OverlayChange[]): Promise<void> {
    let list = open;
    while (list.length > 0) {
      if (overlay.renders.count > limit) {
        const message = 'the batch needs too many builds; it is tried again with the next change';
        for (const change of list) refused.set(change, { ok: false, reason: 'RenderRefused', message });
        return;
      }
      const trial = await project(list);
      list = list.filter((change) => !refused.has(change));
      if (list.length === 0) return;
      const expectations = new Map([...done, ...list].map((change) => [expectationOf(change), change]));
      const { failed, collateral, halted } = await verify(overlay, trial, [...expectations.keys()]);
      if (failed.size === 0 && collateral === undefined) {
        files = trial;
        done = [...done, ...list];
        return;
      }
      if (halted === true) {
        for (const change of list)
          refused.set(change, { ok: false, reason: 'RenderRefused', message: collateral ?? '' });
        return;
      }
      if (collateral !== undefined && list.length > 1) {
        const middle = Math.ceil(list.length / 2);
        await solve(list.slice(0, middle));
        list = list.slice(middle);
        continue;
      }
      for (const change of list) {
        const problem = [...failed].find(([expectation]) => expectations.get(expectation) === change)?.[1];
        if (problem !== undefined || list.length === 1)
          again(change, problem ?? collateral ?? 'it moves another object');
      }
      const own = list;
      if (own.every((change) => !refused.has(change) && (level.get(change) ?? 0) === 0)) {
        // What failed is an earlier change that these disturb.
        for (const change of own) again(change, 'it undoes another edit of the same batch');
      }
      list = list.filter((change) => !refused.has(change));
    }
  }

  /** Every change in a copy of the files; one that has no place is refused. */
  async function project(list: readonly OverlayChange[]): Promise<Workspace> {
    const trial = await projectInto(files.fork({ defers: list.length > 1 }), list);
    if (await trial.finish()) return trial;
    // Something has no place in a kustomization; one by one it is told whose.
    return await projectInto(files.fork({ defers: false }), list);
  }

  async function projectInto(start: Workspace, list: readonly OverlayChange[]): Promise<Workspace> {
    let trial = start;
    for (const change of list) {
      const step = await firstThatFits(trial, change);
      if (step === undefined) continue;
      touched.set(change, step.written());
      trial = step;
    }
    return trial;
  }

  async function firstThatFits(trial: Workspace, change: OverlayChange): Promise<Workspace | undefined> {
    for (let attempt = level.get(change) ?? 0; ; attempt += 1) {
      const step = trial.fork();
      const result = await carry(overlay, step, change, attempt);
      if (result.ok) {
        level.set(change, attempt);
        return step;
      }
      if (attempt + 1 < attempts) continue;
      refused.set(change, result);
      return undefined;
    }
  }

  function again(change: OverlayChange, message: string): void {
    // There is one way to add a file.
    const next = change.kind === 'create' ? attempts : (level.get(change) ?? 0) + 1;
    level.set(change, next);
    if (next < attempts) return;
    refused.set(change, { ok: false, reason: 'RenderRefused', message });
  }

  await solve(changes);
  return { files, done: new Set(done), refused, touched };
}

async function carry(
  overlay: Overlay,
  files: Workspace,
  change: OverlayChange,
  attempt: number,
): Promise<Projection> {
  const { scope } = overlay;
  if (change.kind === 'create') return await projectCreate(scope, files, change.create);
  if (change.kind === 'remove') return await projectRemove(scope, files, change.remove, attempt);
  if (change.restore !== undefined) {
    const restored = await restoreDeleted(files, change.restore);
    if (!restored.ok) return restored;
  }
  return await projectEdit(scope, files, change.edit, attempt);
}

function expectationOf(change: OverlayChange): Expectation {
  const { key } = change;
  if (change.kind === 'create') {
    const { root, expected, schema, path } = change.create;
    return { root, before: undefined, wanted: expected, key, schema, path };
  }
  if (change.kind === 'remove') {
    const { root, object, schema } = change.remove;
    return { root, before: object, wanted: undefined, key, schema };
  }
  const { root, object, wanted, schema } = change.edit;
  return { root, before: object, wanted: wanted satisfies JsonObject, key, schema };
}
