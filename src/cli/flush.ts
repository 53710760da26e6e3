/**
 * `flush NAMESPACE/NAME`: asks the sidecar to publish what is pending now, and waits. It only sets an annotation, so the cluster's own
 * rights and audit apply; nothing talks to the sidecar.
 */
import { Command } from 'commander';
import { parseDuration } from '../api/duration.ts';
import type { GitTarget } from '../api/git-target.ts';
import { annotations } from '../api/group.ts';
import { findCondition } from '../api/trio.ts';
import { type Clock, pause, systemClock } from '../kube/clock.ts';
import { BadInput } from './bad-input.ts';
import {
  type ClusterOptions,
  failed,
  getTarget,
  type PersonCluster,
  parseTargetName,
  personCluster,
  targets,
} from './own-kinds.ts';
import { guarded } from './status.ts';
import { version } from './version.ts';

export interface FlushOptions {
  readonly target: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

type Print = (line: string) => void;

const pollMs = 500;
const progressMs = 5_000;

/** The command for `program.ts`: exit 0 published, 1 not published, 2 bad input or no cluster. */
export function flushCommand(): Command {
  return new Command('flush')
    .description('publish the pending edits of a GitTarget now, and wait for it')
    .argument('<target>', 'NAMESPACE/NAME of the GitTarget')
    .option('--timeout <duration>', 'longest wait', '60s')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .action(async (target: string, options: ClusterOptions & { readonly timeout: string }) => {
      process.exitCode = await guarded('flush', async () => {
        const timeoutMs = parseDuration(options.timeout);
        if (timeoutMs === undefined || timeoutMs <= 0) {
          throw new BadInput(`--timeout ${JSON.stringify(options.timeout)} is no duration such as 60s`);
        }
        const cluster = personCluster(options, version);
        try {
          return await runFlush(
            cluster,
            { target, timeoutMs, clock: systemClock },
            console.log,
            console.error,
          );
        } finally {
          await cluster.client.close();
        }
      });
    });
}

export async function runFlush(
  { client }: PersonCluster,
  { target, timeoutMs, clock }: FlushOptions,
  out: Print,
  note: Print,
): Promise<number> {
  const { namespace, name } = parseTargetName(target);
  await getTarget(client, namespace, name);
  const value = clock.date().toISOString();
  const body = { metadata: { annotations: { [annotations.flushRequestedAt]: value } } };
  const asked = await client.patch({ ...targets, namespace, name }, { type: 'merge', body });
  if (asked.kind !== 'ok') throw failed(asked);

  note(`asked the sidecar to publish what ${target} has pending`);
  const startedAt = clock.now();
  let told = startedAt;
  const never = new AbortController().signal;
  while (clock.now() - startedAt < timeoutMs) {
    const now = await getTarget(client, namespace, name);
    if (covers(now.status?.lastHandledFlushAt ?? '', value)) {
      return tell(now, out, note);
    }
    if (clock.now() - told >= progressMs) {
      told = clock.now();
      note(`still waiting (${Math.round((told - startedAt) / 1000)} s)`);
    }
    await pause(clock, pollMs, never);
  }
  note(
    `flush: no answer within ${Math.round(timeoutMs / 1000)} s; is the sidecar running? See the conditions of GitTarget ${target}`,
  );
  return 1;
}

/** A later request of somebody else covers ours; a value that is no time is only itself. */
function covers(handled: string, value: string): boolean {
  return handled === value || (/^\d{4}-\d\d-\d\dT/.test(handled) && handled > value);
}

/** Done means: the remote has every edit that can be written. A target that is suspended or not ready may miss some. */
function tell(target: GitTarget, out: Print, note: Print): number {
  const subject = `${target.metadata.namespace}/${target.metadata.name}`;
  const { conditions, lastFlush } = target.status ?? {};
  const ready = findCondition(conditions, 'Ready');
  const isReady = ready?.status === 'True' && ready.reason !== 'Suspended';
  const isDone = lastFlush?.outcome === 'Done';
  const words = `${subject}: ${lastFlush?.message ?? 'the sidecar did not say what came of it'}`;
  if (isDone && isReady) out(words);
  else note(`flush: ${words}`);
  if (!isReady)
    note(
      `flush: ${subject} is not ready, edits may be missing: ${ready?.reason ?? 'Unknown'}: ${ready?.message ?? ''}`,
    );
  return isDone && isReady ? 0 : 1;
}
