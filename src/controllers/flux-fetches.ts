/**
 * Tells whether a Kustomization fetched its source through the door: the commit it says it fetched is compared with those the
 * door has let through. A fetch that may have begun before we looked proves nothing.
 */
import type { RouteKustomization } from '../appliers/flux-routes.ts';
import type { FluxName } from '../appliers/flux-source.ts';
import { keyOf } from './flux-routes.ts';

/** Of one source; an apply takes the newest. */
const commitsKept = 32;

export class FluxFetches {
  /** By source: commits that the door has let through, the newest last. */
  readonly #passed = new Map<string, string[]>();
  /** Kustomizations that were seen while none of their applies ran: what they fetch from then on asks us. */
  readonly #rested = new Set<string>();
  readonly #passedBy = new Map<string, string>();

  /** The door has let an artifact through. */
  passed(source: FluxName, commit: string): void {
    const key = keyOf(source);
    const commits = (this.#passed.get(key) ?? []).filter((one) => one !== commit);
    this.#passed.set(key, [...commits, commit].slice(-commitsKept));
  }

  seen(before: RouteKustomization | undefined, after: RouteKustomization): void {
    const key = keyOf(after);
    if (after.attempted !== before?.attempted && this.#rested.has(key)) this.#judge(key, after);
    if (after.resting) this.#rested.add(key);
  }

  forget(name: FluxName): void {
    const key = keyOf(name);
    this.#rested.delete(key);
    this.#passedBy.delete(key);
  }

  /** The commit that a Kustomization fetched elsewhere, until it fetches one here. */
  passedBy(kustomization: FluxName): string | undefined {
    return this.#passedBy.get(keyOf(kustomization));
  }

  #judge(key: string, { attempted, source }: RouteKustomization): void {
    const isOurs =
      attempted === undefined ||
      source.kind !== 'GitRepository' ||
      this.#passed.get(keyOf(source))?.includes(attempted) === true;
    if (isOurs) this.#passedBy.delete(key);
    else this.#passedBy.set(key, attempted);
  }
}
