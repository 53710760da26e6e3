/**
 * Everything the controllers know of Flux: which GitRepositories follow the branches that GitTargets write, who reads them and
 * on which way. One per running set of controllers, where the door of Flux is open. A cluster without Flux has nothing of it.
 */
import {
  artifactGenerators,
  externalArtifacts,
  gitRepositories,
  kustomizations,
} from '../appliers/flux-kinds.ts';
import {
  artifactGeneratorOf,
  externalArtifactOf,
  type RouteKustomization,
  type RouteMaker,
  type RouteSource,
  routeKustomizationOf,
  routeSourceOf,
} from '../appliers/flux-routes.ts';
import type { FluxName } from '../appliers/flux-source.ts';
import type { GateTarget } from '../core/gate/index.ts';
import { normaliseRepositoryUrl } from '../core/repository-url.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { CommitTrust, type SignsWith, type TrustFinding } from './commit-trust.ts';
import { FluxFetches } from './flux-fetches.ts';
import { FluxObjects, type FluxObjectsOptions } from './flux-objects.ts';
import { coveredSources, keyOf, type RouteFinding, routesFinding } from './flux-routes.ts';

export interface FluxViewOptions {
  /** Of the control cluster. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The GitTargets of a repository; undefined before our kinds were read. */
  targets(repository: string): readonly GateTarget[] | undefined;
  /** What is said of these GitTargets may have changed. */
  onTargets(keys: readonly string[]): void;
}

/** Changes come by the hundred when many Kustomizations apply. */
const tellAfterMs = 1_000;

export class FluxView {
  readonly #options: FluxViewOptions;
  readonly #sources: FluxObjects<RouteSource>;
  readonly #kustomizations: FluxObjects<RouteKustomization>;
  readonly #artifacts: FluxObjects<RouteMaker>;
  readonly #generators: FluxObjects<RouteMaker>;
  readonly #fetches = new FluxFetches();
  readonly #trust: CommitTrust;
  readonly #changed = new Set<string>();
  #cancelTell: (() => void) | undefined;
  #complained = false;

  constructor(options: FluxViewOptions) {
    this.#options = options;
    const { client, clock, log } = options;
    this.#trust = new CommitTrust(client, clock);
    const common = {
      client,
      clock,
      onBlocked: (message: string) => this.#complain(message),
      onBroken: (error: unknown) => log.error({ err: error }, 'a stream of a kind of Flux broke'),
    };
    const makers = { ...common, onChange: () => this.#tell(this.#sources.list().map(({ url }) => url)) };
    this.#sources = new FluxObjects({
      ...common,
      kind: gitRepositories,
      factOf: routeSourceOf,
      onChange: (before, after) => this.#tell([before?.url, after?.url]),
    });
    this.#kustomizations = new FluxObjects({ ...common, ...this.#kustomizationOptions() });
    this.#artifacts = new FluxObjects({ ...makers, kind: externalArtifacts, factOf: externalArtifactOf });
    this.#generators = new FluxObjects({ ...makers, kind: artifactGenerators, factOf: artifactGeneratorOf });
  }

  start(): void {
    for (const one of this.#all()) one.start();
  }

  async stop(): Promise<void> {
    this.#cancelTell?.();
    await Promise.all(this.#all().map((one) => one.stop()));
  }

  /** CRDs changed: Flux may be there now. */
  retryBlocked(): void {
    for (const one of this.#all()) one.retryBlocked();
  }

  /** The door has let an artifact through. */
  artifactPassed(source: FluxName, commit: string): void {
    this.#fetches.passed(source, commit);
  }

  /**
   * Whether all that Flux applies of a GitTarget's folder passes the door; undefined when Flux does not apply it.
   * @param url of its repository
   */
  finding(key: string, url: string | undefined): RouteFinding | undefined {
    const target = this.#target(key, url);
    if (target === undefined) return undefined;
    const routes = {
      sources: this.#sources.list(),
      kustomizations: this.#kustomizations.list(),
      artifacts: this.#artifacts.list(),
      generators: this.#generators.list(),
      passedBy: (name: FluxName) => this.#fetches.passedBy(name),
    };
    return routesFinding(routes, target);
  }

  /** Whether the GitRepositories that verify commits of a GitTarget's branch trust ours; undefined when none verifies. */
  async trust(
    key: string,
    url: string | undefined,
    signs: SignsWith | undefined,
  ): Promise<TrustFinding | undefined> {
    const target = this.#target(key, url);
    if (target === undefined) return undefined;
    return await this.#trust.finding(coveredSources(this.#sources.list(), target), signs);
  }

  #target(key: string, url: string | undefined): GateTarget | undefined {
    if (this.#sources.list().length === 0) return undefined;
    const repository = url === undefined ? undefined : normaliseRepositoryUrl(url);
    if (repository === undefined) return undefined;
    return this.#options.targets(repository)?.find((one) => one.key === key);
  }

  #kustomizationOptions(): Pick<FluxObjectsOptions<RouteKustomization>, 'kind' | 'factOf' | 'onChange'> {
    return {
      kind: kustomizations,
      factOf: routeKustomizationOf,
      onChange: (before, after) => {
        if (after !== undefined) this.#fetches.seen(before, after);
        else if (before !== undefined) this.#fetches.forget(before);
        const isSameButResting =
          before !== undefined &&
          after !== undefined &&
          JSON.stringify({ ...before, resting: false }) === JSON.stringify({ ...after, resting: false });
        if (isSameButResting) return;
        const read = [before, after].flatMap((one) => (one === undefined ? [] : keyOf(one.source)));
        const sources = this.#sources.list().filter((one) => read.includes(keyOf(one)));
        this.#tell(sources.map(({ url }) => url));
      },
    };
  }

  #tell(urls: readonly (string | undefined)[]): void {
    for (const url of urls) {
      const repository = url === undefined ? undefined : normaliseRepositoryUrl(url);
      if (repository !== undefined) this.#changed.add(repository);
    }
    if (this.#changed.size === 0) return;
    this.#cancelTell ??= this.#options.clock.after(tellAfterMs, () => {
      this.#cancelTell = undefined;
      const repositories = [...this.#changed];
      this.#changed.clear();
      const targets = repositories.flatMap((one) => this.#options.targets(one) ?? []);
      if (targets.length > 0) this.#options.onTargets(targets.map(({ key }) => key));
    });
  }

  #complain(message: string): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#options.log.info(
      { problem: message },
      'some kinds of Flux cannot be read; what passes the door by is not told',
    );
  }

  #all() {
    return [this.#sources, this.#kustomizations, this.#artifacts, this.#generators];
  }
}
