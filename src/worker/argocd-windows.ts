/**
 * Follows the syncs of Argo CD that an open answer let through: an apply window ends once a later state of the Application
 * shows that the operation has ended, a grace later, and when everything written until then is handled (contracts 7 and 8).
 */
import { type Application, readApplicationNow, requestRefresh } from '../appliers/argocd-application.ts';
import { hasEnded, type SyncOperation } from '../core/apply/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { Alarm } from './alarm.ts';
import { type Asking, marksNow } from './argocd-ask.ts';
import type { FlushMark } from './examine.ts';

export interface ArgocdWindowsOptions extends Asking {
  /** Of the control cluster, where the Applications are. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LetThrough {
  readonly application: Application;
  readonly operation: SyncOperation;
  readonly marks: readonly { readonly mark: FlushMark; readonly revision: string }[];
  /** Edits are known that its commits lack: it is repaired whatever was seen of its writes. */
  readonly lacksEdits?: boolean;
  /** The sync has ended and wrote over edits made after its mark. Called again while the answer is `closed`. */
  collided(): Promise<'done' | 'closed'>;
}

const lookEveryMs = 2_000;
const graceMs = 10_000;
const repairTries = 12;
const repairMaxMs = 30_000;
/** Waves and hooks may keep a sync at work for long. */
const limitMs = 3_600_000;

export class ArgocdWindows {
  readonly #options: ArgocdWindowsOptions;
  readonly #following = new Map<Alarm, string>();
  /** Syncs that asked nobody, by Application: when they began. */
  readonly #ungated = new Map<string, number>();

  constructor(options: ArgocdWindowsOptions) {
    this.#options = options;
  }

  /** Opens a window at each mark and lets the marks go. */
  open(let_: LetThrough): void {
    const { namespace, name } = let_.application;
    const holder = { kind: 'ArgoCD', namespace, name } as const;
    const windows = let_.marks.map(({ mark, revision }) => {
      const window = mark.open({ holder, revision, limitMs });
      mark.drop();
      return window;
    });
    if (windows.length === 0) return;
    const alarm = new Alarm(this.#options.clock);
    this.#following.set(alarm, `${namespace}/${name}`);
    const withheld = () => windows.reduce((sum, window) => sum + window.withheld(), 0);
    const end = async () => {
      for (const window of windows) await window.end();
    };
    this.#follow(let_, alarm, { withheld, end })
      .catch((error: unknown) => {
        this.#options.log.error({ err: error, namespace, name }, 'following a sync broke');
      })
      .finally(() => {
        this.#following.delete(alarm);
        const key = `${namespace}/${name}`;
        if (this.#ungated.get(key) === let_.operation.startedAt) this.#ungated.delete(key);
      });
  }

  /**
   * A sync writes that no answer holds: what it writes is told from edits all the same. Nothing is done again for what it wrote
   * over, since somebody wanted it so.
   */
  watch(application: Application, operation: SyncOperation): void {
    const { namespace, name, askedSources } = application;
    const key = `${namespace}/${name}`;
    const sources = operation.sources ?? askedSources;
    if (hasEnded(operation, operation) || sources.length === 0) return;
    if (this.#ungated.get(key) === operation.startedAt) return;
    this.#ungated.set(key, operation.startedAt);
    const marks = marksNow(this.#options, application, sources);
    if (marks.length === 0) this.#ungated.delete(key);
    this.open({ application, operation, marks, collided: async () => 'done' });
  }

  /** An Application has changed: its sync may have ended. */
  look(application: string): void {
    for (const [alarm, name] of this.#following) if (name === application) alarm.ring();
  }

  stop(): void {
    for (const alarm of this.#following.keys()) alarm.off();
  }

  async #follow(
    { application, operation, collided, lacksEdits = false }: LetThrough,
    alarm: Alarm,
    window: { withheld(): number; end(): Promise<void> },
  ): Promise<void> {
    const { clock, log } = this.#options;
    const limit = clock.now() + limitMs - graceMs;
    while (!alarm.isOff && clock.now() < limit) {
      await alarm.wait(lookEveryMs);
      if (await this.#hasEnded(application, operation)) break;
    }
    // The sooner the next sync, the shorter the edit is gone from the cluster.
    const early = window.withheld();
    if (early > 0 || lacksEdits) this.#repair(application, collided);
    const until = clock.now() + graceMs;
    while (!alarm.isOff && clock.now() < until) await alarm.wait(until - clock.now());
    await window.end();
    await this.#compareAgain(application, operation);
    const withheld = window.withheld();
    if (withheld > early) this.#repair(application, collided);
    const { namespace, name } = application;
    if (withheld > 0)
      log.info({ namespace, name, withheld }, 'a sync wrote over newer edits; they are in Git');
  }

  /** An edit that is not published yet cannot be applied yet. */
  #repair({ namespace, name }: Application, collided: LetThrough['collided']): void {
    const { clock, log } = this.#options;
    const alarm = new Alarm(clock);
    this.#following.set(alarm, '');
    const work = async () => {
      for (let tries = 0; tries < repairTries && !alarm.isOff; tries++) {
        if ((await collided()) === 'done') return;
        await alarm.wait(Math.min(repairMaxMs, lookEveryMs * 2 ** tries));
      }
      log.warn(
        { namespace, name },
        'what a sync wrote over is not published yet; a later sync brings it back',
      );
    };
    work()
      .catch((error: unknown) => log.error({ err: error, namespace, name }, 'repairing after a sync broke'))
      .finally(() => this.#following.delete(alarm));
  }

  /** `argocd app sync` does not always hear of the end of what it waits for; a comparison lets it look again. */
  async #compareAgain(application: Application, operation: SyncOperation): Promise<void> {
    if (!application.startedByUs || !(await this.#hasEnded(application, operation))) return;
    await requestRefresh(this.#options.client, application);
  }

  async #hasEnded(application: Application, operation: SyncOperation): Promise<boolean> {
    const read = await readApplicationNow(this.#options.client, application);
    if (read.kind === 'not-found') return true;
    if (read.kind === 'unknown') return false;
    return hasEnded(read.application.operation, operation);
  }
}
