/**
 * Who applies the folder of one GitTarget, as far as the marks on its live objects tell, and what is filled in after the build.
 *
 * What no applier has marked yet (a new object, one that is gone) is taken to be of the applier seen last.
 */
import type { FolderRef } from '../appliers/folder-applier.ts';
import type { JsonObject } from '../core/json.ts';
import type { Substitution } from '../core/plan/index.ts';
import {
  type ApplierOwner,
  type ArgocdTracking,
  applierOwner,
  trackingLabel,
} from '../core/sanitize/index.ts';
import type { Applier, ClusterFacts } from './cluster-facts.ts';

export class FolderAppliers {
  readonly #facts: Pick<ClusterFacts, 'applier'>;
  readonly #folder: () => FolderRef;
  readonly #tracking: () => ArgocdTracking;
  #seen: ApplierOwner | undefined;
  #isExact = false;

  constructor(facts: Pick<ClusterFacts, 'applier'>, folder: () => FolderRef, tracking: () => ArgocdTracking) {
    this.#facts = facts;
    this.#folder = folder;
    this.#tracking = tracking;
  }

  /** Whose mark a live object carries. */
  ownerOf(live: JsonObject): ApplierOwner | undefined {
    return applierOwner(live, this.#tracking());
  }

  /** The key of the label that an applier puts on this object beside what Git states; undefined where there is none. */
  labelOf(live: JsonObject): string | undefined {
    const owner = this.ownerOf(live) ?? this.#seen;
    return owner && trackingLabel(live, owner, this.#tracking());
  }

  /** A live object of the target carries this mark. */
  saw(owner: ApplierOwner): void {
    this.#seen = owner;
  }

  get isSeen(): boolean {
    return this.#seen !== undefined;
  }

  /** Somebody builds the very folder, whoever else loads it. */
  get isApplied(): boolean {
    return this.#isExact;
  }

  async of(live: JsonObject): Promise<Applier> {
    const owner = this.ownerOf(live);
    return owner === undefined ? { kind: 'none' } : await this.#read(owner);
  }

  /** Undefined where nobody fills anything in. */
  async substitution(live: JsonObject | undefined): Promise<Substitution | undefined> {
    const owner = (live && this.ownerOf(live)) ?? this.#seen;
    if (owner === undefined) return undefined;
    const applier = await this.#read(owner);
    if (applier.kind === 'applies') return applier.substitution ?? { isSubstituted: false };
    // A Kustomization that cannot be read may have a postBuild: what looks like a variable may be one.
    return applier.kind === 'unknown' && owner.kind === 'Flux' ? { isSubstituted: true } : undefined;
  }

  async #read(owner: ApplierOwner): Promise<Applier> {
    const applier = await this.#facts.applier(owner, this.#folder());
    if (applier.kind === 'applies' && applier.isExact !== undefined) this.#isExact = applier.isExact;
    return applier;
  }
}
