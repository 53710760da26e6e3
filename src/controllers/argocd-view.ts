/**
 * Everything the controllers know of Argo CD: Applications, SyncGates, notices. One per running set of controllers; joins
 * them with the GitTargets whose folders the Applications apply.
 */
import type { Application } from '../appliers/argocd-application.ts';
import { hasEnded } from '../core/apply/index.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { ArgocdTracking } from '../core/sanitize/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { CoveredTarget } from '../worker/gate-desk.ts';
import type { BranchObservation, Mirror } from '../worker/mirror-spec.ts';
import { Applications, applying, type GateFinding, gateFinding, isAdmitted, nameOf } from './applications.ts';
import { ArgocdSettings } from './argocd-settings.ts';
import { Notices } from './notices.ts';
import { type GateCluster, type GateHandler, SyncGates } from './sync-gates.ts';

export interface GateDoor extends GateHandler {
  /** @param name `namespace/name` */
  applicationChanged(name: string): void;
  /** Its sync goes on and asks at no gate. */
  passesBy(application: Application): void;
}

export interface ArgocdViewOptions {
  /** Of the control cluster. */
  readonly client: KubeClient;
  readonly argocdNamespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly mirror: Pick<Mirror, 'observe'>;
  /** The GitTargets of a repository; undefined before our kinds were read. */
  targets(repository: string): readonly CoveredTarget[] | undefined;
  /** What is said of these GitTargets may have changed. */
  onTargets(keys: readonly string[]): void;
  /** How Argo CD marks what it applies is known now, or has changed. */
  onTracking(): void;
}

const lookAfterMs = 1_000;

export class ArgocdView {
  readonly #options: ArgocdViewOptions;
  readonly #applications: Applications;
  readonly #gates: SyncGates;
  readonly #settings: ArgocdSettings;
  readonly #notices: Notices;
  /** Repositories of the sources of each Application, as they were last seen. */
  readonly #repositories = new Map<string, readonly string[]>();
  /** What is told of each Application in conditions, as it was last told. */
  readonly #told = new Map<string, string>();
  readonly #observed = new Set<string>();
  #cancelLook: (() => void) | undefined;
  #door: GateDoor | undefined;

  constructor(options: ArgocdViewOptions) {
    this.#options = options;
    const { client, argocdNamespace, clock, log } = options;
    this.#applications = new Applications({ client, clock, log, onChange: (name) => this.#changed(name) });
    this.#settings = new ArgocdSettings({
      client,
      argocdNamespace,
      clock,
      log,
      onChange: () => {
        this.#gates.lookAgain();
        options.onTracking();
      },
    });
    this.#gates = new SyncGates({
      control: client,
      tracking: () => this.#settings.tracking,
      clock,
      log,
      onChange: (name) => this.#tellTargets(name),
    });
    this.#notices = new Notices({ client, clock, log, facts: (name) => this.#noticeFacts(name) });
  }

  start(): void {
    this.#settings.start();
    this.#applications.start();
    this.#gates.start();
  }

  async stop(): Promise<void> {
    this.#door = undefined;
    this.#cancelLook?.();
    this.#settings.stop();
    await Promise.all([this.#notices.stop(), this.#applications.stop(), this.#gates.stop()]);
  }

  /** Undefined until it was looked for once. */
  get tracking(): ArgocdTracking | undefined {
    return this.#settings.isKnown ? this.#settings.tracking : undefined;
  }

  attach(door: GateDoor): void {
    this.#door = door;
    this.#gates.attach(door);
  }

  update(remotes: readonly GateCluster[]): void {
    this.#gates.update(remotes);
  }

  retryBlocked(): void {
    this.#applications.retryBlocked();
    this.#gates.retryBlocked();
  }

  /** What is under way for a GitTarget has changed. Edits come by the hundred, so it is looked at a little later. */
  observed(key: string): void {
    if (this.#applications.list().length === 0) return;
    this.#observed.add(key);
    this.#cancelLook ??= this.#options.clock.after(lookAfterMs, () => {
      this.#cancelLook = undefined;
      const keys = new Set(this.#observed);
      this.#observed.clear();
      for (const application of this.#applications.list()) {
        const name = nameOf(application);
        if (this.#targetsOf(name).some((target) => keys.has(target.key))) this.#notices.look(name);
      }
    });
  }

  /**
   * Whether every Application that applies the folder of a GitTarget waits at its gate; undefined when none does.
   * @param url of its repository
   */
  finding(key: string, url: string | undefined): GateFinding | undefined {
    const list = this.#applications.list();
    const repository = url === undefined ? undefined : normaliseRepositoryUrl(url);
    if (list.length === 0 || repository === undefined) return undefined;
    const target = this.#options.targets(repository)?.find((one) => one.key === key);
    return target === undefined ? undefined : gateFinding(list, target, this.#gates);
  }

  #changed(name: string): void {
    this.#door?.applicationChanged(name);
    const application = this.#applications.get(name);
    if (application !== undefined && asksNobody(application, this.#gates.of(name) !== undefined))
      this.#door?.passesBy(application);
    this.#notices.look(name);
    // Argo CD writes an Application at each comparison.
    const told = signatureOf(application);
    if (this.#told.get(name) === told) return;
    if (told === '') this.#told.delete(name);
    else this.#told.set(name, told);
    this.#tellTargets(name);
  }

  /** Those of its sources now, and of those it had before. */
  #tellTargets(name: string): void {
    const application = this.#applications.get(name);
    const now = (application?.sources ?? []).flatMap(({ repoURL }) => normaliseRepositoryUrl(repoURL) ?? []);
    const repositories = new Set([...(this.#repositories.get(name) ?? []), ...now]);
    if (application === undefined) this.#repositories.delete(name);
    else this.#repositories.set(name, now);
    const keys = [...repositories].flatMap((one) => this.#options.targets(one) ?? []).map(({ key }) => key);
    this.#options.onTargets([...new Set(keys)]);
  }

  /** Those that may hold the Application back. */
  #targetsOf(name: string): CoveredTarget[] {
    const application = this.#applications.get(name);
    if (application === undefined) return [];
    const repositories = new Set(
      application.sources.flatMap(({ repoURL }) => normaliseRepositoryUrl(repoURL) ?? []),
    );
    return [...repositories]
      .flatMap((repository) => this.#options.targets(repository) ?? [])
      .filter((target) => applying([application], target).length > 0 && isAdmitted(application, target));
  }

  #noticeFacts(name: string) {
    const application = this.#applications.get(name);
    if (application === undefined) return undefined;
    const branches: BranchObservation[] = [];
    for (const { key } of this.#targetsOf(name)) {
      const branch = this.#options.mirror.observe(key)?.branch;
      // Not at work yet: whether something waits is not known.
      if (branch === undefined) return { shown: application.notice, branches: undefined };
      branches.push(branch);
    }
    return { shown: application.notice, branches };
  }
}

/** Argo CD makes no hooks for single resources and for the strategy `apply`; self-heal and rollback are such syncs. */
function asksNobody({ operation, lastSync }: Application, hasGate: boolean): boolean {
  if (operation === undefined || lastSync === undefined || hasEnded(operation, operation)) return false;
  return !hasGate || lastSync.partial || lastSync.applyStrategy;
}

function signatureOf(application: Application | undefined): string {
  if (application === undefined) return '';
  const { sources, destination, selfHeal, doorOpen, lastSync, operation } = application;
  return JSON.stringify([sources, destination, selfHeal, doorOpen, lastSync, operation?.startedAt]);
}
