/**
 * What an Argo CD plugin is told beyond the decision of the gate desk: that its Application lets an older commit pass, and the
 * checkout to render from. It also undoes what a strict plugin's refusal leaves behind: Argo CD renders a commit that failed three
 * times no more for an hour, so an Application whose door has opened again is asked to forget that.
 */
import { type ApplicationName, applications, readApplicationNow } from '../appliers/argocd-application.ts';
import type { TargetKey } from '../core/branch/state.ts';
import { coverageOf, type GateAnswer, type GateQuestion, type GateTarget } from '../core/gate/index.ts';
import { isObject, type JsonObject, valueAt } from '../core/json.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { Checkouts } from './checkouts.ts';
import type { Mirror } from './mirror-spec.ts';

export interface PluginDeskOptions {
  readonly client: KubeClient;
  readonly mirror: Pick<Mirror, 'observe' | 'onChange'>;
  readonly targets: (repository: string) => readonly GateTarget[] | undefined;
  /** The decision alone. */
  readonly ask: (question: GateQuestion, deadlineMs: number) => Promise<GateAnswer>;
  /** Everything the gate needs was read. */
  readonly ready: () => boolean;
  readonly checkouts: Checkouts | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a render waits for its checkout; its own copy is as good. */
const checkoutWaitMs = 3_000;
const lookIntervalMs = 10_000;
/** As long as Argo CD keeps a failure, and a little. */
const rememberMs = 70 * 60_000;
const remembered = 1_000;
const askMs = 5_000;
/** No look takes longer than this and one question. */
const lookLimitMs = 10_000;
/** What our wrapper says; it stands in the condition of an Application that it did not render. */
const ourWords = 'gitops-reverser gate: ';

interface Refused {
  readonly question: GateQuestion;
  readonly until: number;
}

export class PluginDesk {
  readonly #options: PluginDeskOptions;
  /** Applications whose newest render met a closed door, by name. */
  readonly #refused = new Map<string, Refused>();
  readonly #forget: () => void;
  #cancel: () => void = () => undefined;
  #stopped = false;
  /** Applications that failed before this process was there to see it were looked for. */
  #lookedBack = false;

  constructor(options: PluginDeskOptions) {
    this.#options = options;
    this.#forget = options.mirror.onChange((target) => this.#follow(target));
    this.#lookLater();
  }

  async answer(question: GateQuestion, deadlineMs: number): Promise<GateAnswer> {
    const decided = await this.#options.ask(question, deadlineMs);
    // Whatever the answer, the plugin may render this commit now.
    this.#options.checkouts?.renew(question.revision);
    this.#remember(question, decided);
    const answer = decided.decision === 'superseded' ? await this.#allowed(question, decided) : decided;
    if (answer.decision === 'open' && answer.covered) await this.#share(question, answer.tip, deadlineMs);
    return answer;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#forget();
    await this.#options.checkouts?.stop();
  }

  /** Somebody who means an older commit says so on the Application, commit by commit. */
  async #allowed(
    question: GateQuestion,
    answer: Extract<GateAnswer, { decision: 'superseded' }>,
  ): Promise<GateAnswer> {
    const { application, revision } = question;
    const read = await readApplicationNow(this.#options.client, application);
    if (read.kind !== 'ok' || read.application.allowRevision !== revision) return answer;
    this.#options.log.info({ ...application, revision }, 'the Application lets an older commit pass');
    const { tip, edits, refused } = answer;
    return { decision: 'open', covered: true, tip, revision, edits, refused };
  }

  async #share(question: GateQuestion, tip: string, deadlineMs: number): Promise<void> {
    const { checkouts, clock } = this.#options;
    const repository = normaliseRepositoryUrl(question.repoURL);
    if (checkouts === undefined || repository === undefined) return;
    const shown = Promise.all(
      this.#covered(question, repository, tip).map((target) => checkouts.show(target, repository, tip)),
    );
    // The tip is not what is rendered: nobody waits for it.
    if (question.revision !== tip) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(Math.min(checkoutWaitMs, deadlineMs / 4), resolve);
      void shown.then(() => {
        cancel();
        resolve();
      });
    });
  }

  #covered(question: GateQuestion, repository: string, tip: string): readonly TargetKey[] {
    const { targets, mirror } = this.#options;
    const coverage = coverageOf(question, targets(repository) ?? [], undefined);
    if (coverage.kind === 'none') return [];
    // Where HEAD was asked for, the tip tells the branch.
    return coverage.targets.map(({ key }) => key).filter((key) => mirror.observe(key)?.branch.tip === tip);
  }

  /** Keeps the checkout of a target that was once asked for at the tip of its branch. */
  #follow(target: TargetKey): void {
    const { checkouts, mirror } = this.#options;
    const repository = checkouts?.repositoryOf(target);
    if (checkouts === undefined || repository === undefined || this.#stopped) return;
    const seen = mirror.observe(target);
    if (seen === undefined) void checkouts.forget(target);
    else if (typeof seen.branch.tip === 'string') void checkouts.show(target, repository, seen.branch.tip);
  }

  #remember(question: GateQuestion, { decision }: GateAnswer): void {
    const name = nameOf(question.application);
    this.#refused.delete(name);
    if (decision !== 'closed') return;
    this.#refused.set(name, { question, until: this.#options.clock.now() + rememberMs });
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > remembered && oldest !== undefined) this.#refused.delete(oldest);
  }

  #lookLater(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.clock.after(lookIntervalMs, () => {
      void this.#look().finally(() => this.#lookLater());
    });
  }

  async #look(): Promise<void> {
    try {
      if (!this.#options.ready()) return;
      if (!this.#lookedBack) await this.#lookBack();
      const startedAt = this.#options.clock.now();
      for (const [name, refused] of [...this.#refused]) {
        if (this.#stopped || this.#options.clock.now() - startedAt > lookLimitMs) return;
        await this.#lookAt(name, refused);
      }
    } catch (error) {
      this.#options.log.error({ err: error }, 'looking after failed renders broke');
    }
  }

  async #lookAt(name: string, refused: Refused): Promise<void> {
    const answer = await this.#options.ask(refused.question, askMs);
    // A render in the meantime has its own answer.
    if (this.#stopped || this.#refused.get(name) !== refused) return;
    this.#refused.delete(name);
    if (this.#options.clock.now() > refused.until) return;
    // To the end of the line, so that all of them have their turn.
    if (answer.decision === 'closed') this.#refused.set(name, refused);
    else await this.#renderAgain(refused.question.application);
  }

  /** While nobody answered, strict plugins failed; a wrapper waits by itself until the door is open. */
  async #lookBack(): Promise<void> {
    this.#lookedBack = true;
    const listed = await this.#options.client.listAll({ ...applications, namespace: '' });
    // Without Argo CD, or without the right to read Applications, there is nothing to be done.
    if (listed.kind !== 'ok') return;
    for (const application of listed.items.filter(failedByUs)) {
      const namespace = valueAt(application, ['metadata', 'namespace']);
      const name = valueAt(application, ['metadata', 'name']);
      if (typeof namespace === 'string' && typeof name === 'string')
        await this.#renderAgain({ namespace, name });
    }
  }

  async #renderAgain(application: ApplicationName): Promise<void> {
    const { client, log } = this.#options;
    const body = { metadata: { annotations: { 'argocd.argoproj.io/refresh': 'hard' } } };
    const { namespace, name } = application;
    const patched = await client.patch({ ...applications, namespace, name }, { type: 'merge', body });
    if (patched.kind === 'ok')
      log.info({ namespace, name }, 'asked Argo CD to render again: the door is open');
    else log.warn({ namespace, name, why: patched.message }, 'Argo CD could not be asked to render again');
  }
}

function failedByUs(application: JsonObject): boolean {
  const conditions = valueAt(application, ['status', 'conditions']);
  return (
    Array.isArray(conditions) &&
    conditions.some(
      (one) => isObject(one) && typeof one.message === 'string' && one.message.includes(ourWords),
    )
  );
}

function nameOf({ namespace, name }: ApplicationName): string {
  return `${namespace}/${name}`;
}
