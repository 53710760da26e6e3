/** Carries the changes of a kustomize folder out, proved by the builds, and makes one plan of everything. */
import { compareText } from '../folder/index.ts';
import { describeObject } from '../identity.ts';
import { type OverlayChange, settle } from '../kustomize/index.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { encodeFile } from '../yaml/index.ts';
import type { Built, OverlayContext } from './overlay-decide.ts';
import type { EditedField, ObjectOutcome, Plan, PlannedEdit } from './types.ts';

type Project = Extract<Built, { kind: 'project' }>;

interface Parts {
  readonly results: readonly Built[];
  readonly plans: readonly Plan[];
  /** Files that come with new objects, each path once. */
  readonly others: readonly PlannedEdit[];
}

export async function combine(context: OverlayContext, { results, plans, others }: Parts): Promise<Plan> {
  const projects = results.filter((one): one is Project => one.kind === 'project');
  const settled = await settle(
    context.overlay,
    projects.map(({ change }) => change),
  );
  const refused: Refusal[] = [];
  const outcomes: ObjectOutcome[] = [];
  for (const result of results) {
    if (result.kind === 'settled') {
      outcomes.push(result.outcome);
      if (result.refusal !== undefined) refused.push(result.refusal);
      continue;
    }
    const { object, path } = result;
    const why = settled.refused.get(result.change);
    if (why === undefined) {
      const first = settled.touched.get(result.change)?.[0] ?? path;
      outcomes.push({ object, outcome: 'written', ...(first === undefined ? {} : { path: first }) });
      continue;
    }
    const at = why.path ?? path;
    outcomes.push({ object, outcome: 'refused', ...(at === undefined ? {} : { path: at }) });
    refused.push(
      refuse(why.reason, `${describeObject(object)} was not written: ${why.message}`, {
        object,
        ...(at === undefined ? {} : { path: at }),
      }),
    );
  }
  const edits = settled.files
    .changes()
    .map(({ path, text }) => planned(context, path, text, settled.touched, projects));
  return {
    edits: onePerPath([...edits, ...plans.flatMap((one) => one.edits), ...others]),
    refused: [...refused, ...plans.flatMap((one) => one.refused)],
    skipped: context.plain.skipped,
    notices: [...context.notices, ...plans.flatMap((one) => one.notices)],
    unchanged: [
      ...outcomes.flatMap((one) => (one.outcome === 'unchanged' ? [one.object] : [])),
      ...plans.flatMap((one) => one.unchanged),
    ],
    outcomes: [...outcomes, ...plans.flatMap((one) => one.outcomes)],
  };
}

function onePerPath(edits: readonly PlannedEdit[]): PlannedEdit[] {
  const paths = new Map(edits.toReversed().map((edit) => [edit.path, edit]));
  return [...paths.values()].sort((a, b) => compareText(a.path, b.path));
}

function planned(
  { overlay, index, tree }: OverlayContext,
  path: string,
  text: string | undefined,
  touched: ReadonlyMap<OverlayChange, readonly string[]>,
  projects: readonly Project[],
): PlannedEdit {
  const own = projects.filter(({ change }) => touched.get(change)?.includes(path) === true);
  const fieldsOf = (which: 'fields' | 'overwritten'): EditedField[] =>
    own.flatMap((one) => one[which].map((field) => ({ object: one.object, field })));
  const entry = index.files.get(path)?.entry ?? tree.entries().find((one) => one.path === path);
  return {
    path,
    action: text === undefined ? 'delete' : overlay.files.has(path) ? 'edit' : 'create',
    mode: entry?.mode === '100755' ? '100755' : '100644',
    ...(text === undefined ? {} : { content: encodeFile(text) }),
    objects: own.map(({ object }) => object),
    fields: fieldsOf('fields'),
    overwritten: fieldsOf('overwritten'),
  };
}
