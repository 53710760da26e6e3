/**
 * One SyncGate from the moment Argo CD made it until nothing is left to do for it: waits until its Application says which
 * commits are applied, asks, answers in the status, and sees to what follows (contracts 8).
 */
import {
  type Application,
  type ApplicationName,
  readApplicationNow,
} from '../appliers/argocd-application.ts';
import {
  afterSuperseded,
  continuedForMs,
  type EarlierAnswer,
  type GateChecks,
  leftToDo,
  type Standing,
  type SyncOperation,
  type SyncSource,
  standingOf,
  supersededMessage,
} from '../core/apply/index.ts';
import type { GateAnswer } from '../core/gate/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { EventFact } from '../kube/events.ts';
import type { Log } from '../telemetry/log.ts';
import { Alarm } from './alarm.ts';
import { type AnswerFacts, writeAnswer } from './argocd-answer.ts';
import { type Asked, type Asking, ask, dropMarks, marksOf, sinceAll } from './argocd-ask.ts';
import { continueSync, repairSync } from './argocd-continue.ts';
import type { ArgocdWindows } from './argocd-windows.ts';

/** A SyncGate as it was seen. */
export interface SeenGate {
  /** Of the cluster it is in. */
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Its Application, by the tracking mark; undefined when it has none. */
  readonly application: ApplicationName | undefined;
  readonly checks: GateChecks;
  /** Value of the annotation reconcile.configbutler.ai/requestedAt: a new one asks again at once. */
  readonly requested: string;
  /** What its status says already of this very object. */
  readonly answered: EarlierAnswer | undefined;
}

export interface GateRunOptions extends Asking {
  /** Of the control cluster. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly windows: ArgocdWindows;
  record(event: EventFact): void;
}

/** `leastMs`: not even when somebody rings sooner. */
type Step = 'done' | { readonly waitMs: number; readonly leastMs?: number };

interface Failed {
  readonly operation: SyncOperation;
  readonly sources: readonly SyncSource[];
  /** In clock time; undefined: as long as it takes. */
  readonly until?: number;
}

const pendingFirstMs = 250;
const pendingMaxMs = 10_000;
const closedMaxMs = 30_000;
const closedLeastMs = 2_000;
/** A sync that waits for a closed gate is let fail after this. */
export const degradedAfterMs = 120_000;
const settleMs = 250;
const refusedNamed = 10;
/** An answer that does not arrive keeps the sync waiting. */
const tellTries = 120;
const tellAgainMs = 1_000;

export class GateRun {
  readonly alarm: Alarm;
  readonly #gate: SeenGate;
  readonly #options: GateRunOptions;
  #requested: string;
  #gone = false;
  #waits = 0;
  #told = '';
  #closedAt: number | undefined;
  /** The sync that was let fail because the gate stayed closed. */
  #failed: Failed | undefined;

  constructor(gate: SeenGate, options: GateRunOptions) {
    this.#gate = gate;
    this.#requested = gate.requested;
    this.#options = options;
    this.alarm = new Alarm(options.clock);
  }

  get application(): string {
    return nameOf(this.#gate.application);
  }

  /** The object has changed. */
  changed({ requested }: SeenGate): void {
    if (requested === this.#requested) return;
    this.#requested = requested;
    this.alarm.ring();
  }

  /** Something may have opened: a closed gate asks again soon. */
  mayOpen(): void {
    if (this.#closedAt !== undefined) this.alarm.ring();
  }

  /** The object was deleted: nobody reads an answer any more. */
  gone(): void {
    this.#gone = true;
    this.alarm.ring();
  }

  async run(): Promise<void> {
    while (!this.alarm.isOff && !this.#gone) {
      const step = this.#failed === undefined ? await this.#look() : await this.#lookAgain(this.#failed);
      if (step === 'done') return;
      const until = this.#options.clock.now() + (step.leastMs ?? 0);
      await this.alarm.wait(step.waitMs);
      await this.#rest(until);
    }
  }

  /** Waits until then whoever rings; asking costs a flush. */
  async #rest(until: number): Promise<void> {
    const { clock } = this.#options;
    while (!this.alarm.isOff && !this.#gone && clock.now() < until)
      await this.alarm.wait(until - clock.now());
  }

  async #look(): Promise<Step> {
    const name = this.#gate.application;
    if (name === undefined) return this.#close('nothing on this object says which Application made it', 0);
    const read = await readApplicationNow(this.#options.client, name);
    if (read.kind === 'not-found') return this.#close(`there is no Application ${nameOf(name)} here`, 0);
    if (read.kind === 'unknown')
      return this.#close(`Application ${nameOf(name)} cannot be read: ${read.message}`, 0);
    const { application } = read;
    const { operation } = application;
    const taken = await this.#takeUp(application);
    if (taken !== undefined) return taken;
    const standing = standingOf(operation, nameOf(name), this.#gate.checks);
    if (standing.kind === 'pending' || operation === undefined) return this.#pend(standing);
    if (standing.kind === 'closed') return this.#close(standing.message, closedMaxMs, operation, []);
    if (application.doorOpen) return await this.#breakGlass(application, operation);
    const asked = await ask(this.#options, application, standing.sources);
    switch (asked.answer.decision) {
      case 'open':
        return await this.#open(application, operation, asked, asked.answer);
      case 'superseded':
        return await this.#supersede(application, operation, asked, asked.answer);
      case 'closed': {
        const { reason, message, retryAfterMs } = asked.answer;
        return this.#close(`${reason}: ${message}`, retryAfterMs, operation, standing.sources);
      }
    }
  }

  /** What an earlier process answered and did not live to do. Undefined: it has not answered. */
  async #takeUp(application: Application): Promise<Step | undefined> {
    const { answered, namespace, name } = this.#gate;
    const { clock, log } = this.#options;
    if (answered === undefined) return undefined;
    const { operation, gatesSaid } = application;
    const said = gatesSaid.find((one) => one.namespace === namespace && one.name === name)?.message;
    const left = leftToDo(answered, operation, said, clock.date().getTime());
    const sources = operation?.sources;
    if (operation === undefined || sources === undefined || left === 'nothing') {
      if (answered.phase !== 'Open' && answered.phase !== 'Superseded') return undefined;
      log.debug({ namespace, name }, 'an earlier process has answered, and nothing is left to do');
      return 'done';
    }
    switch (left) {
      case 'wait':
        return { waitMs: pendingMaxMs };
      case 'follow':
        return await this.#followEarlier(application, operation, sources);
      case 'continue':
        this.#failed =
          answered.phase === 'Closed'
            ? { operation, sources }
            : { operation, sources, until: clock.now() + continuedForMs };
        return { waitMs: 0 };
    }
  }

  /** The sync goes on writing: from now on what it writes is told from edits again. */
  async #followEarlier(
    application: Application,
    operation: SyncOperation,
    sources: readonly SyncSource[],
  ): Promise<Step> {
    const asked = await ask(this.#options, application, sources, { isUnderWay: true });
    const isNotAtWork = asked.verdicts.some(
      ({ verdict }) => verdict.answer.decision === 'closed' && verdict.mark === undefined,
    );
    if (isNotAtWork) {
      dropMarks(asked);
      return { waitMs: Math.min(pendingMaxMs, pendingFirstMs * 2 ** this.#waits++) };
    }
    const { namespace, name } = application;
    this.#options.log.info({ namespace, name }, 'a sync is followed that an earlier process let through');
    this.#options.windows.open({
      application,
      operation,
      marks: marksOf(asked),
      lacksEdits: asked.answer.decision !== 'open',
      collided: () => repairSync(this.#options, { application, operation, sources }),
    });
    return 'done';
  }

  async #pend(standing: Standing): Promise<Step> {
    const message = 'message' in standing ? standing.message : '';
    await this.#tell({ phase: 'Pending', message });
    return { waitMs: Math.min(pendingMaxMs, pendingFirstMs * 2 ** this.#waits++) };
  }

  async #breakGlass(application: Application, operation: SyncOperation): Promise<Step> {
    const message =
      'the annotation configbutler.ai/door: open lets this sync pass unchecked; live edits may be overwritten';
    this.#warn(application, 'DoorOpen', message);
    return await this.#open(application, operation, undefined, { decision: 'open', covered: false }, message);
  }

  async #open(
    application: Application,
    operation: SyncOperation,
    asked: Asked | undefined,
    answer: Extract<GateAnswer, { decision: 'open' }>,
    words?: string,
  ): Promise<Step> {
    this.#options.windows.open({
      application,
      operation,
      marks: asked === undefined ? [] : marksOf(asked),
      collided: () => repairSync(this.#options, { application, operation, sources: asked?.sources ?? [] }),
    });
    // Unchecked, or of a tag: what it lacks is pruned all the same.
    if (!answer.covered) this.#options.windows.watch(application, operation);
    const refused = answer.covered ? answer.refused : [];
    this.#tellRefused(application, refused);
    const message = words ?? openMessage(answer);
    await this.#tell({
      phase: 'Open',
      message: refused.length === 0 ? message : `${message}; ${refused.length} cannot be written`,
      refused,
      ...(answer.covered ? { tip: answer.tip } : {}),
    });
    return 'done';
  }

  async #supersede(
    application: Application,
    operation: SyncOperation,
    asked: Asked,
    answer: Extract<GateAnswer, { decision: 'superseded' }>,
  ): Promise<Step> {
    const { allowRevision } = application;
    const { refused } = answer;
    if (allowRevision !== undefined && asked.sources.some(({ revision }) => revision === allowRevision)) {
      const message = `the annotation configbutler.ai/allow-revision lets the older commit ${allowRevision.slice(0, 12)} pass`;
      this.#warn(application, 'RevisionAllowed', message);
      this.#options.windows.watch(application, operation);
      this.#tellRefused(application, refused);
      await this.#tell({ phase: 'Open', message, tip: answer.tip, refused });
      return 'done';
    }
    dropMarks(asked);
    const after = afterSuperseded(operation, await sinceAll(asked));
    const message = supersededMessage(answer, after);
    await this.#tell({ phase: 'Superseded', message, tip: answer.tip, edits: answer.edits, refused });
    await continueSync(this.#options, this.alarm, { application, operation, asked, after });
    return 'done';
  }

  async #close(
    words: string,
    retryAfterMs: number,
    operation?: SyncOperation,
    sources: readonly SyncSource[] = [],
  ): Promise<Step> {
    const { clock } = this.#options;
    this.#closedAt ??= clock.now();
    const message = `held by GitOps Reverser: ${words}`;
    const degraded = clock.now() - this.#closedAt >= degradedAfterMs;
    await this.#tell({ phase: 'Closed', message, ...(degraded ? { degraded } : {}) });
    if (degraded) {
      // Without a sync that could be asked for again nothing is left to do.
      if (operation === undefined || sources.length === 0) return 'done';
      this.#failed = { operation, sources };
    }
    const left = degraded ? closedMaxMs : this.#closedAt + degradedAfterMs - clock.now();
    const pause = Math.max(retryAfterMs, pendingFirstMs * 2 ** this.#waits++);
    return { waitMs: Math.max(settleMs, Math.min(closedMaxMs, pause, left)), leastMs: closedLeastMs };
  }

  /** The sync was let fail. Once the gate would open, it is asked for once more. */
  async #lookAgain({ operation, sources, until = Number.POSITIVE_INFINITY }: Failed): Promise<Step> {
    if (this.#options.clock.now() > until) return 'done';
    const name = this.#gate.application;
    const read = name === undefined ? undefined : await readApplicationNow(this.#options.client, name);
    if (read === undefined || read.kind === 'not-found') return 'done';
    if (read.kind === 'unknown') return { waitMs: closedMaxMs };
    const { application } = read;
    const now = application.operation;
    if (now === undefined || now.startedAt !== operation.startedAt || now.phase === 'Succeeded')
      return 'done';
    // It goes on failing, or is tried again by Argo CD itself, with a gate of its own.
    if (now.phase !== 'Failed') return { waitMs: pendingMaxMs };
    const asked = await ask(this.#options, application, sources);
    dropMarks(asked);
    const { answer } = asked;
    if (answer.decision === 'closed') {
      return { waitMs: Math.max(answer.retryAfterMs, closedMaxMs), leastMs: closedLeastMs };
    }
    if (answer.decision === 'open') {
      await continueSync(this.#options, this.alarm, {
        application,
        operation,
        asked,
        after: { kind: 'reissue' },
        why: 'its gate is open now',
      });
      return 'done';
    }
    const after = afterSuperseded(operation, await sinceAll(asked));
    await this.#tell({ phase: 'Superseded', message: supersededMessage(answer, after), tip: answer.tip });
    await continueSync(this.#options, this.alarm, { application, operation, asked, after });
    return 'done';
  }

  async #tell(answer: AnswerFacts): Promise<void> {
    const { message = '' } = answer;
    const told = JSON.stringify([answer.phase, message, answer.degraded]);
    if (told === this.#told) return;
    const { namespace, name } = this.#gate;
    const { clock, log } = this.#options;
    for (let tries = 0; tries < tellTries && !this.alarm.isOff && !this.#gone; tries++) {
      const written = await writeAnswer(this.#gate, answer, clock.date());
      if (written.kind === 'written') {
        this.#told = told;
        return;
      }
      if (written.kind === 'gone') return this.gone();
      log.warn({ namespace, name, problem: written.message }, 'a SyncGate could not be answered yet');
      await this.#rest(clock.now() + tellAgainMs);
    }
  }

  #tellRefused(
    application: Application,
    refused: Extract<GateAnswer, { decision: 'superseded' }>['refused'],
  ): void {
    for (const { object, fields, reason, target } of refused.slice(0, refusedNamed)) {
      const which = fields.length === 0 ? '' : ` (${fields.slice(0, refusedNamed).join(', ')})`;
      const message = `the live edit of ${object}${which} cannot be written to Git (${reason}, GitTarget ${target}); this sync may overwrite it`;
      this.#warn(application, 'EditRefused', message);
    }
  }

  #warn({ namespace, name, uid }: Application, reason: string, message: string): void {
    this.#options.log.warn({ namespace, name, reason }, message);
    const about = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', namespace, name, uid };
    this.#options.record({ about, type: 'Warning', reason, message });
  }
}

function openMessage(answer: Extract<GateAnswer, { decision: 'open' }>): string {
  if (!answer.covered) return 'no GitTarget writes to what this sync applies';
  const [revision, tip] = [answer.revision.slice(0, 12), answer.tip.slice(0, 12)];
  if (revision === tip) return `every live edit that can be written is in ${revision}`;
  return `${revision} may be applied; the branch is at ${tip}`;
}

function nameOf(application: ApplicationName | undefined): string {
  return application === undefined ? '' : `${application.namespace}/${application.name}`;
}
