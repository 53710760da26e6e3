/**
 * What is done for a sync that has failed at its gate, or that wrote over newer edits: Argo CD looks again, or the same sync
 * is started at the tip.
 */
import {
  type Application,
  operationAt,
  readApplicationNow,
  requestRefresh,
  startOperation,
  terminate,
} from '../appliers/argocd-application.ts';
import {
  type AfterSuperseded,
  afterSuperseded,
  hasEnded,
  type SyncOperation,
  type SyncSource,
} from '../core/apply/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { Alarm } from './alarm.ts';
import { type Asked, type Asking, ask, dropMarks, sinceAll } from './argocd-ask.ts';

export interface Continuing extends Asking {
  /** Of the control cluster. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
}

const settleMs = 250;
/** Hooks for failed syncs may take their time. */
const failingMs = 1_800_000;

interface Continuation {
  readonly application: Application;
  /** The one that failed. */
  readonly operation: SyncOperation;
  readonly asked: Asked;
  readonly after: AfterSuperseded;
  /** Told in the new operation's info. */
  readonly why?: string;
}

/** Lets the sync fail with our words, ends its retries, and goes on at the tip where that is ours to do. */
export async function continueSync(
  { client, clock, log }: Continuing,
  alarm: Alarm,
  continuation: Continuation,
): Promise<void> {
  const { namespace, name } = continuation.application;
  const { operation } = continuation;
  const limit = clock.now() + failingMs;
  while (!alarm.isOff && clock.now() < limit) {
    const read = await readApplicationNow(client, continuation.application);
    if (read.kind === 'not-found') return;
    if (read.kind === 'ok') {
      const now = read.application.operation;
      if (now === undefined || now.startedAt !== operation.startedAt || now.phase === 'Succeeded') return;
      if (now.phase === 'Failed' && !read.application.busy) {
        const problem = await goOn(client, read.application, continuation);
        if (problem === undefined) return;
        log.warn({ namespace, name, problem }, 'a sync could not be continued yet');
      } else if (now.phase === 'Running' && hasEnded(now, operation)) {
        // Its words are in the result by now; another attempt at this commit would end the same way.
        const problem = await terminate(client, read.application);
        if (problem !== undefined)
          log.debug({ namespace, name, problem }, 'a sync could not be terminated yet');
      }
    }
    // Rung when the Application changes. Whoever waits for the sync sees it fail unless it goes on at once.
    await alarm.wait(settleMs);
  }
}

/**
 * The sync wrote over newer edits: what it was asked for is done once more, at the tip.
 * @returns `closed` while they are not published, or while that is not known
 */
export async function repairSync(
  options: Continuing,
  {
    application,
    operation,
    sources,
  }: {
    readonly application: Application;
    readonly operation: SyncOperation;
    readonly sources: readonly SyncSource[];
  },
): Promise<'done' | 'closed'> {
  const { client } = options;
  const asked = await ask(options, application, sources);
  dropMarks(asked);
  if (asked.answer.decision === 'closed') return 'closed';
  if (asked.answer.decision !== 'superseded') return 'done';
  const after = afterSuperseded(operation, await sinceAll(asked));
  const read = await readApplicationNow(client, application);
  if (read.kind !== 'ok' || read.application.busy) return 'done';
  if (read.application.operation?.startedAt !== operation.startedAt) return 'done';
  const why = 'it wrote over live edits that were made while it ran; they are in Git now';
  await goOn(client, read.application, { application, operation, asked, after, why });
  return 'done';
}

/**
 * @param application as it is now
 * @returns what went wrong
 */
async function goOn(
  client: KubeClient,
  application: Application,
  { asked, after, why = 'the commit it was asked for lacks live edits' }: Continuation,
): Promise<string | undefined> {
  switch (after.kind) {
    case 'end':
      return undefined;
    case 'refresh':
      return await requestRefresh(client, application);
    case 'reissue': {
      const revisions = new Map<number | undefined, string>();
      for (const { source, verdict } of asked.verdicts) {
        const { answer } = verdict;
        const revision = answer.decision === 'superseded' ? answer.tip : source.revision;
        if (answer.decision === 'superseded' || !revisions.has(source.index))
          revisions.set(source.index, revision);
      }
      const at = [...revisions].map(([index, revision]) => ({ index, revision }));
      const commits = at.map(({ revision }) => revision.slice(0, 12)).join(', ');
      const info = `started again at ${commits} by GitOps Reverser: ${why}`;
      return await startOperation(client, application, operationAt(application.asked, at, info));
    }
  }
}
