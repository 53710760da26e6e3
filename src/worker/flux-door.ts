/**
 * The door of Flux: decides about every artifact of a GitRepository before kustomize-controller gets it (contracts 7), and
 * sees to it that Flux comes back: superseded sources are fetched anew, what waited at a closed door is reconciled when it
 * opens. The artifact listener carries the bytes.
 */
import {
  type Applying,
  type FluxName,
  type GitSource,
  probeSources,
  readApplying,
  readFailedFetches,
  readSource,
  stamp,
} from '../appliers/flux-source.ts';
import type { GateAnswer } from '../core/gate/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { EventFact } from '../kube/events.ts';
import type { Log } from '../telemetry/log.ts';
import { FluxWindows } from './flux-windows.ts';
import type { GateDesk, Verdict } from './gate-desk.ts';

export interface FluxDoorOptions {
  readonly client: KubeClient;
  readonly desk: Pick<GateDesk, 'ask' | 'mark'>;
  readonly clock: Clock;
  readonly log: Log;
  /** GitTargets and GitProviders were read once. */
  ready(): boolean;
  record(event: EventFact): void;
  /** An artifact of this commit was let through. */
  passed(source: FluxName, commit: string): void;
}

export type DoorAnswer =
  /** Byte for byte from this URL. */
  | { readonly kind: 'pass'; readonly url: string }
  /** 404: Flux tries again by itself. */
  | { readonly kind: 'missing'; readonly message: string }
  /** 423: the sentence becomes the Kustomization's Ready message. */
  | { readonly kind: 'locked'; readonly message: string };

interface Stamped {
  readonly tip: string;
  readonly at: number;
}

interface Waiting {
  tries: number;
  cancel: () => void;
}

/** Flux gets every answer within 20 s. */
const answerMs = 17_000;
/** The desk's part of it. */
const deskMs = 13_000;
/** A source that still lacks the tip this long after it was stamped will not get it by itself. */
const lackingMs = 120_000;
const stampAgainMs = 3_000;
const probeMs = 10_000;
const recheckFirstMs = 2_000;
const recheckMaxMs = 30_000;
const refusedNamed = 10;
const fieldsNamed = 5;

export class FluxDoor {
  readonly #options: FluxDoorOptions;
  readonly #windows: FluxWindows;
  /** By source: the first tip it was asked to fetch and has not shown yet. */
  readonly #lacking = new Map<string, Stamped>();
  readonly #stamps = new Map<string, Stamped>();
  /** Sources whose door is closed. */
  readonly #waiting = new Map<string, Waiting>();
  /** By source: its Kustomizations as last read. */
  readonly #applying = new Map<string, readonly Applying[]>();
  #listed = false;
  #stopped = false;
  #cancelProbe: () => void = () => undefined;

  constructor(options: FluxDoorOptions) {
    this.#options = options;
    this.#windows = new FluxWindows(options);
  }

  start(): void {
    this.#probe().catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'listing the GitRepositories broke');
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe();
    this.#windows.stop();
    for (const { cancel } of this.#waiting.values()) cancel();
  }

  /** Something may have opened: what waits at a closed door is asked for again soon. */
  lookAgain(): void {
    for (const [key, waiting] of this.#waiting) {
      if (waiting.tries === 0) continue;
      waiting.tries = 0;
      this.#recheckLater(key, waiting);
    }
  }

  /**
   * Answers in time, whatever the API server and the remote do.
   * @param path of the artifact, as in the source's status
   */
  decide(name: FluxName, path: string): Promise<DoorAnswer> {
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.after(answerMs, () => {
        this.#wait(keyOf(name));
        resolve({ kind: 'locked', message: 'held by GitOps Reverser: Deadline: no answer in time' });
      });
      this.#decide(name, path).then(resolve, reject).finally(cancel);
    });
  }

  async #decide(name: FluxName, path: string): Promise<DoorAnswer> {
    if (!this.#listed || !this.#options.ready()) {
      return {
        kind: 'missing',
        message: 'the sidecar has just started and has not read everything it needs',
      };
    }
    const read = await readSource(this.#options.client, name);
    if (read.kind === 'not-found') return { kind: 'missing', message: `there is no ${describe(name)}` };
    if (read.kind === 'unknown') {
      this.#wait(keyOf(name));
      return { kind: 'locked', message: `${describe(name)} cannot be read: ${read.message}` };
    }
    const source = read.value;
    const { artifact, branch } = source;
    if (artifact === undefined || pathOf(artifact.url) !== path) {
      return { kind: 'missing', message: `this is not the artifact of ${describe(name)} any more` };
    }
    if (source.doorOpen) {
      this.#breakGlass(source);
      return this.#passUnheld(source, artifact);
    }
    if (branch === undefined) return this.#passUnheld(source, artifact);
    const applying = await this.#readApplying(source);
    const verdict = await this.#ask(source, branch, artifact.commit, applying);
    return this.#act({ source, artifact, applying, verdict });
  }

  #ask(source: GitSource, branch: string, revision: string, applying: readonly Applying[]): Promise<Verdict> {
    const question = questionOf(source, `refs/heads/${branch}`, revision);
    return this.#options.desk.ask(question, { deadlineMs: deskMs, appliers: applying.map(keyOf) });
  }

  /** What it writes, removes or prunes is told from edits all the same; nothing is done again for what it wrote over. */
  async #passUnheld(
    source: GitSource,
    artifact: { readonly url: string; readonly commit: string },
  ): Promise<DoorAnswer> {
    const mark = this.#options.desk.mark(questionOf(source, artifact.commit, artifact.commit));
    if (mark !== undefined)
      this.#windows.open(mark, await this.#readApplying(source), artifact.commit, () => undefined);
    return this.#pass(source, artifact);
  }

  async #act(facts: {
    readonly source: GitSource;
    readonly artifact: { readonly url: string; readonly commit: string };
    readonly applying: readonly Applying[];
    readonly verdict: Verdict;
  }): Promise<DoorAnswer> {
    const { source, artifact, applying, verdict } = facts;
    const { answer, mark } = verdict;
    const key = keyOf(source);
    switch (answer.decision) {
      case 'open': {
        this.#lacking.delete(key);
        this.#forget(key);
        if (!answer.covered) return this.#passUnheld(source, artifact);
        const collided = () => this.#repair(source);
        if (mark !== undefined) this.#windows.open(mark, applying, artifact.commit, collided);
        this.#tellRefused(answer, applying);
        return this.#pass(source, artifact);
      }
      case 'superseded':
        this.#forget(key);
        return this.#supersede(source, answer.tip, verdict);
      case 'closed':
        this.#wait(key);
        return { kind: 'locked', message: `held by GitOps Reverser: ${answer.reason}: ${answer.message}` };
    }
  }

  async #supersede(source: GitSource, tip: string, verdict: Verdict): Promise<DoorAnswer> {
    const key = keyOf(source);
    const where = `${describe(source)} (${source.ready})`;
    const newer = `commit ${tip.slice(0, 12)} holds newer edits`;
    if (source.suspended) {
      return {
        kind: 'locked',
        message: `held by GitOps Reverser: ${newer}, but ${where} is suspended; resume it`,
      };
    }
    const now = this.#options.clock.now();
    const lacking = this.#lacking.get(key);
    const caughtUp = lacking === undefined || (await verdict.descendsFrom(lacking.tip));
    if (caughtUp) this.#lacking.set(key, { tip, at: now });
    await this.#stampSource(source, tip);
    if (!caughtUp && now - lacking.at >= lackingMs) {
      return {
        kind: 'locked',
        message: `held by GitOps Reverser: ${newer}, but ${where} has not fetched what it was asked to 2 minutes ago`,
      };
    }
    return { kind: 'missing', message: `superseded: ${newer}, ${describe(source)} was asked to fetch it` };
  }

  /** An apply wrote over newer edits: once they are published, the source is asked for them. */
  #repair(source: GitSource): void {
    const { branch, artifact } = source;
    if (branch === undefined || artifact === undefined) return;
    this.#ask(source, branch, artifact.commit, [])
      .then(async ({ answer, mark }) => {
        mark?.drop();
        if (answer.decision === 'superseded') await this.#stampSource(source, answer.tip);
        // Not published yet, or not known: looked at again until it is.
        if (answer.decision === 'closed') this.#wait(keyOf(source));
      })
      .catch((error: unknown) => {
        this.#options.log.error({ err: error, source: keyOf(source) }, 'repairing what an apply undid broke');
        this.#wait(keyOf(source));
      });
  }

  #pass(source: FluxName, { url, commit }: { readonly url: string; readonly commit: string }): DoorAnswer {
    this.#options.passed(source, commit);
    return { kind: 'pass', url };
  }

  #breakGlass(source: GitSource): void {
    const message =
      'the annotation configbutler.ai/door: open lets applies pass unchecked; live edits may be overwritten';
    this.#options.log.warn({ namespace: source.namespace, name: source.name }, message);
    const about = {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      namespace: source.namespace,
      name: source.name,
      uid: source.uid,
    };
    this.#options.record({ about, type: 'Warning', reason: 'DoorOpen', message });
    this.#forget(keyOf(source));
  }

  #tellRefused({ refused }: Extract<GateAnswer, { covered: true }>, applying: readonly Applying[]): void {
    for (const { namespace, name, uid } of applying) {
      const about = {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        namespace,
        name,
        uid,
      };
      for (const { object, fields, reason, target } of refused.slice(0, refusedNamed)) {
        const message = `the live edit of ${object}${describeFields(fields)} cannot be written to Git (${reason}, GitTarget ${target}); this apply may overwrite it`;
        this.#options.record({ about, type: 'Warning', reason: 'EditRefused', message });
      }
    }
  }

  /** Those that are at work now; all of them when that cannot be said. */
  async #readApplying(source: GitSource): Promise<readonly Applying[]> {
    const key = keyOf(source);
    const read = await readApplying(this.#options.client, source);
    if (read.kind !== 'ok') return this.#applying.get(key) ?? [];
    this.#applying.set(key, read.value);
    const working = read.value.filter(({ ready }) => ready === 'Unknown');
    return working.length > 0 ? working : read.value;
  }

  async #stampSource(source: FluxName, tip: string): Promise<void> {
    const { client, clock, log } = this.#options;
    const key = keyOf(source);
    const last = this.#stamps.get(key);
    if (last !== undefined && last.tip === tip && clock.now() - last.at < stampAgainMs) return;
    this.#stamps.set(key, { tip, at: clock.now() });
    const failure = await stamp(client, 'GitRepository', source, clock.date());
    if (failure !== undefined)
      log.warn({ ...source, problem: failure }, 'a GitRepository could not be asked to fetch');
  }

  /** The door of a source is closed: look again until it opens, since Flux only comes back at its retry interval. */
  #wait(key: string): void {
    if (this.#waiting.has(key) || this.#stopped) return;
    const waiting: Waiting = { tries: 0, cancel: () => undefined };
    this.#waiting.set(key, waiting);
    this.#recheckLater(key, waiting);
  }

  #forget(key: string): void {
    this.#waiting.get(key)?.cancel();
    this.#waiting.delete(key);
  }

  #recheckLater(key: string, waiting: Waiting): void {
    waiting.cancel();
    const delay = Math.min(recheckMaxMs, recheckFirstMs * 2 ** waiting.tries);
    waiting.cancel = this.#options.clock.after(delay, () => {
      waiting.tries += 1;
      this.#recheck(key)
        .catch((error: unknown) => {
          this.#options.log.error({ err: error, source: key }, 'looking at a closed door again broke');
          return false;
        })
        .then((opened) => {
          if (this.#waiting.get(key) !== waiting || this.#stopped) return;
          if (opened) this.#waiting.delete(key);
          else this.#recheckLater(key, waiting);
        });
    });
  }

  /** Returns true when nobody waits any more. */
  async #recheck(key: string): Promise<boolean> {
    const { client, clock, log } = this.#options;
    const read = await readSource(client, nameOf(key));
    if (read.kind === 'unknown') return false;
    if (read.kind === 'not-found' || read.value.artifact === undefined) return true;
    const source = read.value;
    const { branch, artifact } = source;
    if (branch !== undefined && artifact !== undefined) {
      const { answer, mark } = await this.#ask(source, branch, artifact.commit, []);
      mark?.drop();
      if (answer.decision === 'closed') return false;
      if (answer.decision === 'superseded') await this.#stampSource(source, answer.tip);
    }
    const applying = await readApplying(client, source);
    if (applying.kind !== 'ok') return false;
    for (const kustomization of applying.value.filter(({ ready }) => ready !== 'True')) {
      const failure = await stamp(client, 'Kustomization', kustomization, clock.date());
      if (failure !== undefined)
        log.warn({ ...kustomization, problem: failure }, 'a Kustomization could not be asked to reconcile');
    }
    return true;
  }

  async #probe(): Promise<void> {
    const probed = await probeSources(this.#options.client);
    if (probed.kind === 'ok') {
      this.#listed = true;
      this.#options.log.info('the GitRepositories were listed; the door of Flux answers');
      // Nobody answered these while we were away.
      const failed = await readFailedFetches(this.#options.client);
      if (failed.kind === 'ok') for (const source of failed.value) this.#wait(keyOf(source));
      return;
    }
    if (probed.kind === 'unknown')
      this.#options.log.warn({ problem: probed.message }, 'the GitRepositories cannot be listed');
    if (!this.#stopped) this.#cancelProbe = this.#options.clock.after(probeMs, () => this.start());
  }
}

/** ` (data.eur, data.usd and 3 more)`; '' when they are not known. */
function describeFields(fields: readonly string[]): string {
  if (fields.length === 0) return '';
  const named = fields.slice(0, fieldsNamed).join(', ');
  return ` (${named}${fields.length > fieldsNamed ? ` and ${fields.length - fieldsNamed} more` : ''})`;
}

function describe({ namespace, name }: FluxName): string {
  return `GitRepository ${namespace}/${name}`;
}

function questionOf({ url, namespace, name }: GitSource, targetRevision: string, revision: string) {
  return {
    applier: 'flux',
    application: { namespace, name },
    repoURL: url,
    targetRevision,
    revision,
    // The request names the source, so every folder of its branch counts.
    path: '',
    phase: 'fetch',
  } as const;
}

function keyOf({ namespace, name }: FluxName): string {
  return `${namespace}/${name}`;
}

function nameOf(key: string): FluxName {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

function pathOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).pathname : undefined;
}
