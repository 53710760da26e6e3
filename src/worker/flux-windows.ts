/**
 * Follows the applies of Flux that an open answer let through: an apply window ends once its Kustomization has said how the
 * apply ended, a grace later, and when everything written until then is handled (contracts 7).
 */
import { type Applying, readKustomizationState } from '../appliers/flux-source.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { compareResourceVersions } from '../kube/resource.ts';
import type { Log } from '../telemetry/log.ts';
import type { FlushMark, OpenWindow } from './examine.ts';

export interface FluxWindowsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
}

const lookEveryMs = 1_000;
const graceMs = 10_000;
/** No window is open longer than this after its answer. */
export const windowLimitMs = 120_000;

export class FluxWindows {
  readonly #options: FluxWindowsOptions;
  readonly #cancels = new Set<() => void>();
  #stopped = false;

  constructor(options: FluxWindowsOptions) {
    this.#options = options;
  }

  /**
   * Opens a window for each of the Kustomizations and lets the mark go.
   * @param collided an apply has ended and wrote over edits made after its mark; may be called again when its window ends
   */
  open(mark: FlushMark, applying: readonly Applying[], revision: string, collided: () => void): void {
    for (const kustomization of applying) {
      const { namespace, name } = kustomization;
      const holder = { kind: 'Flux', namespace, name } as const;
      const window = mark.open({ holder, revision, limitMs: windowLimitMs });
      this.#follow(kustomization, window, collided).catch((error: unknown) => {
        this.#options.log.error({ err: error, namespace, name }, 'following an apply broke');
      });
    }
    mark.drop();
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#cancels) cancel();
  }

  async #follow(before: Applying, window: OpenWindow, collided: () => void): Promise<void> {
    const { clock, log } = this.#options;
    const limit = clock.now() + windowLimitMs;
    while (!this.#stopped && clock.now() < limit - graceMs) {
      await this.#pause(lookEveryMs);
      if (await this.#hasEnded(before)) break;
    }
    // The sooner the next apply, the shorter the edit is gone from the cluster.
    const early = window.withheld();
    if (early > 0) collided();
    await this.#pause(Math.max(0, Math.min(graceMs, limit - clock.now())));
    await window.end();
    const withheld = window.withheld();
    if (withheld > early) collided();
    const { namespace, name } = before;
    if (withheld > 0)
      log.info(
        { namespace, name, withheld },
        'an apply wrote over newer edits; they are in Git and applied again',
      );
  }

  async #hasEnded(before: Applying): Promise<boolean> {
    const now = await readKustomizationState(this.#options.client, before);
    if (now.kind === 'not-found') return true;
    if (now.kind === 'unknown' || now.value.ready === 'Unknown') return false;
    const order = compareResourceVersions(now.value.resourceVersion, before.resourceVersion);
    return order !== undefined && order > 0;
  }

  #pause(ms: number): Promise<void> {
    if (this.#stopped || ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#cancels.delete(done);
        resolve();
      };
      const cancel = this.#options.clock.after(ms, done);
      this.#cancels.add(done);
    });
  }
}
