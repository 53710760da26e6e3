/**
 * Flushes that people asked for by annotation. Each value is flushed once; a target that does not run yet is waited for, within the
 * same deadline. What came out stays until the status says that it is handled.
 */
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { FlushReport, Mirror } from '../worker/mirror-spec.ts';
import { describeRefusals } from './decide-git-target.ts';

export interface FlushesOptions {
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly log: Log;
  /** The flush of this GitTarget has ended. */
  readonly onDone: (target: string) => void;
}

interface Asked {
  readonly value: string;
  readonly deadlineAt: number;
  started: boolean;
  report: FlushReport | undefined;
  cancel: () => void;
}

const deadlineMs = 30_000;
/** The flush itself keeps the deadline; this is for one that does not come back at all. */
const graceMs = 5_000;

export class Flushes {
  readonly #options: FlushesOptions;
  readonly #asked = new Map<string, Asked>();

  constructor(options: FlushesOptions) {
    this.#options = options;
  }

  /**
   * Sees to it that this value is flushed. The report once that has ended.
   * @param state whether the workers run the target, may come to run it, or must not
   */
  ask(target: string, value: string, state: 'running' | 'starting' | 'refused'): FlushReport | undefined {
    const before = this.#asked.get(target);
    const asked = before?.value === value ? before : this.#begin(target, value);
    if (asked.started || asked.report !== undefined) return asked.report;
    if (state === 'running') this.#start(target, asked);
    if (state === 'refused') {
      asked.cancel();
      asked.report = late('NotRunning', 'the GitTarget may not run; its conditions say why');
    }
    return asked.report;
  }

  forget(target: string): void {
    this.#asked.get(target)?.cancel();
    this.#asked.delete(target);
  }

  stop(): void {
    for (const target of [...this.#asked.keys()]) this.forget(target);
  }

  #begin(target: string, value: string): Asked {
    this.forget(target);
    const { clock } = this.#options;
    const asked: Asked = {
      value,
      deadlineAt: clock.now() + deadlineMs,
      started: false,
      report: undefined,
      cancel: clock.after(deadlineMs, () =>
        this.#end(
          target,
          asked,
          late('NotRunning', 'the GitTarget did not start in time; its conditions say why'),
        ),
      ),
    };
    this.#asked.set(target, asked);
    return asked;
  }

  #start(target: string, asked: Asked): void {
    const { mirror, clock, log } = this.#options;
    asked.started = true;
    asked.cancel();
    asked.cancel = clock.after(asked.deadlineAt - clock.now() + graceMs, () =>
      this.#end(target, asked, late('Deadline', 'the flush did not end in time')),
    );
    mirror.flush(target, asked.deadlineAt).then(
      (report) => this.#end(target, asked, report),
      (error: unknown) => {
        log.error({ err: error, gitTarget: target }, 'a flush broke');
        this.#end(target, asked, late('Failed', 'the flush broke; see the log of the sidecar'));
      },
    );
  }

  #end(target: string, asked: Asked, report: FlushReport): void {
    if (asked.report !== undefined || this.#asked.get(target) !== asked) return;
    asked.cancel();
    asked.report = report;
    this.#options.onDone(target);
  }
}

/** What people are told of a flush. */
export function describeFlush({ tip, published, refused, pending, closed }: FlushReport): {
  readonly outcome: 'Done' | 'Incomplete';
  readonly message: string;
} {
  const commits = [...new Set(published.map(({ commit }) => commit))];
  const done =
    commits.length === 0
      ? `nothing was left to publish${tip === null ? '' : `; the branch is at ${short(tip)}`}`
      : `published ${commits.map(short).join(', ')}`;
  const words = [
    done,
    ...(refused.length === 0 ? [] : [describeRefusals(refused)]),
    ...(pending === 0 ? [] : [`${pending} edits still wait`]),
    ...(closed === undefined ? [] : [`${closed.reason}: ${closed.message}`]),
  ];
  return {
    outcome: pending === 0 && closed === undefined ? 'Done' : 'Incomplete',
    message: words.join('; '),
  };
}

function short(commit: string): string {
  return commit.slice(0, 12);
}

function late(reason: string, message: string): FlushReport {
  return { tip: null, published: [], refused: [], pending: 0, closed: { reason, message } };
}
