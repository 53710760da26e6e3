/**
 * The notice on an Application's page in Argo CD while live edits of its folder wait to be published. Shown when they wait
 * for more than a moment, and taken away when they are in Git.
 */
import { type Notice, setNotice } from '../appliers/argocd-application.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { BranchObservation } from '../worker/mirror-spec.ts';

export interface NoticesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The notice an Application carries now, and the branches its folders are written to; undefined: not known. */
  facts(application: string):
    | {
        readonly shown: Notice | undefined;
        readonly branches: readonly BranchObservation[] | undefined;
      }
    | undefined;
}

/** Ours begin with this; others are left alone. */
const mark = 'GitOps Reverser: ';
const patienceMs = 5_000;

export class Notices {
  readonly #options: NoticesOptions;
  readonly #timers = new Map<string, () => void>();
  readonly #writing = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Something about these Applications or their branches has changed. @param name `namespace/name` */
  look(name: string): void {
    if (this.#stopped || this.#timers.has(name)) return;
    const wanted = this.#wanted(name);
    if (wanted === 'leave') return;
    // What waits only for the end of its commit window is no news.
    const delay = wanted === undefined ? 0 : patienceMs;
    const cancel = this.#options.clock.after(delay, () => {
      this.#timers.delete(name);
      this.#write(name);
    });
    this.#timers.set(name, cancel);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    await Promise.all(this.#writing.values());
  }

  #write(name: string): void {
    if (this.#writing.has(name)) return;
    const wanted = this.#wanted(name);
    if (wanted === 'leave') return;
    const [namespace = '', application = ''] = name.split('/');
    const written = setNotice(this.#options.client, { namespace, name: application }, wanted)
      .then((problem) => {
        if (problem !== undefined)
          this.#options.log.debug({ application: name, problem }, 'a notice could not be set');
      })
      .finally(() => this.#writing.delete(name));
    this.#writing.set(name, written);
  }

  /** Undefined: none. */
  #wanted(name: string): Notice | undefined | 'leave' {
    const facts = this.#options.facts(name);
    if (facts === undefined || facts.branches === undefined) return 'leave';
    const { shown, branches } = facts;
    const foreign = shown !== undefined && !shown.content.startsWith(mark);
    if (foreign) return 'leave';
    const wanted = noticeOf(branches);
    const same = wanted?.content === shown?.content && wanted?.severity === shown?.severity;
    return same ? 'leave' : wanted;
  }
}

function noticeOf(branches: readonly BranchObservation[]): Notice | undefined {
  if (branches.every(({ pendingObjects }) => pendingObjects === 0)) return undefined;
  const failure = branches.find((branch) => branch.failure !== undefined)?.failure;
  const halt = branches.find((branch) => branch.halt !== undefined)?.halt;
  const waiting = 'live edits of this folder are not in Git yet';
  if (halt !== undefined)
    return { content: `${mark}${waiting}, and syncs wait for them: ${halt}`, severity: 'warning' };
  if (failure === undefined)
    return { content: `${mark}${waiting}; a sync publishes them first`, severity: 'info' };
  const { reason } = failure;
  return { content: `${mark}${waiting}, and syncs wait for them: ${reason}`, severity: 'warning' };
}
