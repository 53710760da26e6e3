/** What is done for a sync that has failed at its gate: Argo CD looks again, or the same sync is started at the tip. */
import {
  type Application,
  operationAt,
  requestRefresh,
  startOperation,
} from '../appliers/argocd-application.ts';
import type { AfterSuperseded, SyncOperation } from '../core/apply/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Asked } from './argocd-ask.ts';

export interface Continuation {
  readonly application: Application;
  /** The one that failed. */
  readonly operation: SyncOperation;
  readonly asked: Asked;
  readonly after: AfterSuperseded;
  /** Told in the new operation's info. */
  readonly why?: string;
}

/**
 * @param application as it is now
 * @returns what went wrong
 */
export async function goOn(
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
