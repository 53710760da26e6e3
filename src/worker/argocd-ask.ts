/** Asks the gate desk about every Git source of a sync, and makes one answer of what it says. */
import type { ApplicationName } from '../appliers/argocd-application.ts';
import { combined, type Since, type SyncSource } from '../core/apply/index.ts';
import type { GateAnswer } from '../core/gate/index.ts';
import type { LetThrough } from './argocd-windows.ts';
import type { GateDesk, Verdict } from './gate-desk.ts';

export interface Asking {
  readonly desk: Pick<GateDesk, 'ask' | 'mark'>;
}

export interface Asked {
  readonly answer: GateAnswer;
  readonly sources: readonly SyncSource[];
  readonly verdicts: readonly { readonly source: SyncSource; readonly verdict: Verdict }[];
}

const deadlineMs = 17_000;

/** @param isUnderWay the sync applies these commits already, whatever the answer is; the caller has the marks */
export async function ask(
  { desk }: Asking,
  application: ApplicationName,
  sources: readonly SyncSource[],
  { isUnderWay = false } = {},
): Promise<Asked> {
  const appliers = [`${application.namespace}/${application.name}`];
  const verdicts = await Promise.all(
    sources.map(async (source) => {
      const verdict = await desk.ask(questionOf(application, source), { deadlineMs, appliers, isUnderWay });
      return { source, verdict };
    }),
  );
  const answer = combined(verdicts.map(({ verdict }) => verdict.answer));
  // A sync that does not go on opens no window, also not for the source that could.
  const asked = { answer, sources, verdicts };
  if (answer.decision !== 'open' && !isUnderWay) dropMarks(asked);
  return asked;
}

/** Marks of this moment for every source that somebody mirrors: nobody asks, or nobody is held. */
export function marksNow(
  { desk }: Asking,
  application: ApplicationName,
  sources: readonly SyncSource[],
): LetThrough['marks'] {
  return sources.flatMap((source) => {
    const mark = desk.mark(questionOf(application, source));
    return mark === undefined ? [] : [{ mark, revision: source.revision }];
  });
}

function questionOf(
  { namespace, name }: ApplicationName,
  { repoURL, targetRevision, revision, path }: SyncSource,
) {
  const application = { namespace, name };
  return {
    repoURL,
    targetRevision,
    revision,
    path,
    application,
    applier: 'argocd',
    phase: 'presync',
  } as const;
}

/** Where the windows of a sync begin, by the commits it applies. */
export function marksOf({ verdicts }: Asked): LetThrough['marks'] {
  return verdicts.flatMap(({ source, verdict: { mark } }) =>
    mark === undefined ? [] : [{ mark, revision: source.revision }],
  );
}

export function dropMarks({ verdicts }: Asked): void {
  for (const { verdict } of verdicts) verdict.mark?.drop();
}

/** What came since to any of the superseded sources. */
export async function sinceAll({ verdicts }: Asked): Promise<Since> {
  const all = await Promise.all(
    verdicts
      .filter(({ verdict }) => verdict.answer.decision === 'superseded')
      .map(({ verdict }) => verdict.since()),
  );
  let foreign = false;
  let oldestAt = Number.POSITIVE_INFINITY;
  for (const since of all) {
    if (since.kind === 'unknown') return since;
    foreign ||= since.foreign;
    oldestAt = Math.min(oldestAt, since.oldestAt);
  }
  return { kind: 'known', foreign, oldestAt };
}
