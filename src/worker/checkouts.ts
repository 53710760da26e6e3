/**
 * The shared checkouts: for each gated GitTarget the files of the newest commit of its branch, on a volume that plugins mount
 * read-only (contracts 9). `commits/<commit>/` is one commit, whole from the moment it has that name; `targets/<namespace>/<name>`
 * is a link to one of them, replaced in one step.
 *
 * A plugin may be reading when a newer commit comes, so an older one stays for a while; while all places are taken by such, newer
 * ones wait. Plugins look by commit and do without when it is not there, so nothing ever waits for this longer than it wants.
 */
import { renameSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TargetKey } from '../core/branch/state.ts';
import type { CheckoutResult } from '../git/checkout.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';

export interface CheckoutsOptions {
  readonly dir: string;
  /** Writes the files of a commit of a repository (its key) into a folder that it makes. */
  write(repository: string, commit: string, into: string): Promise<CheckoutResult>;
  remove(folder: string): Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<CheckoutLimits>;
}

export interface CheckoutLimits {
  /** Commits kept at once, all targets together. */
  readonly commits: number;
  readonly bytes: number;
  /** How long a commit stays after it was last shown or asked for: longer than any render takes. */
  readonly graceMs: number;
}

interface Kept {
  readonly bytes: number;
  /** When the last target left it; undefined while one shows it. */
  retiredAt: number | undefined;
}

interface Wish {
  readonly repository: string;
  readonly commit: string;
}

const usualLimits: CheckoutLimits = { commits: 32, bytes: 2 * 1024 ** 3, graceMs: 300_000 };
const commitShape = /^[0-9a-f]{40,64}$/;

export class Checkouts {
  readonly #options: CheckoutsOptions;
  readonly #limits: CheckoutLimits;
  readonly #kept = new Map<string, Kept>();
  /** What each target's link shows. */
  readonly #shown = new Map<TargetKey, string>();
  readonly #wishes = new Map<TargetKey, Wish>();
  readonly #unfit = new Set<string>();
  #work: Promise<void>;
  #cancelSweep: () => void = () => undefined;
  #stopped = false;
  #counter = 0;

  constructor(options: CheckoutsOptions) {
    this.#options = options;
    this.#limits = { ...usualLimits, ...options.limits };
    this.#work = this.#guarded('taking over the shared checkouts', () => this.#takeOver());
  }

  /** The target's repository, once it was asked to be shown; for following its branch. */
  repositoryOf(target: TargetKey): string | undefined {
    return this.#wishes.get(target)?.repository;
  }

  /** Shows a commit for a target. Settles when it does, or when it will not; true = it does. A newer wish replaces an older one. */
  async show(target: TargetKey, repository: string, commit: string): Promise<boolean> {
    if (this.#stopped || !commitShape.test(commit)) return false;
    this.#wishes.set(target, { repository, commit });
    await this.#inTurn('sharing a checkout', () => this.#fulfil(target));
    return this.#shown.get(target) === commit;
  }

  /** Somebody is about to read a commit that may have been retired long ago: its time begins anew. */
  renew(commit: string): void {
    const kept = this.#kept.get(commit);
    if (kept?.retiredAt !== undefined) kept.retiredAt = this.#options.clock.now();
  }

  /** The target is gone, and so is its link. */
  async forget(target: TargetKey): Promise<void> {
    if (!this.#wishes.delete(target)) return;
    await this.#inTurn('removing a shared checkout', async () => {
      await rm(this.#linkOf(target), { force: true });
      this.#leave(target);
    });
  }

  /** Nothing changes any more; what is there stays for whoever reads. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelSweep();
    await this.#work;
  }

  async #fulfil(target: TargetKey): Promise<void> {
    const wish = this.#wishes.get(target);
    if (wish === undefined || this.#stopped || this.#shown.get(target) === wish.commit) return;
    await this.#sweep();
    if (!this.#kept.has(wish.commit) && !(await this.#make(target, wish))) return;
    const before = this.#shown.get(target);
    await this.#point(target, wish.commit);
    const kept = this.#kept.get(wish.commit);
    if (kept !== undefined) kept.retiredAt = undefined;
    this.#shown.set(target, wish.commit);
    if (before !== undefined) this.#retire(before);
  }

  async #make(target: TargetKey, { repository, commit }: Wish): Promise<boolean> {
    const { log, write } = this.#options;
    if (this.#unfit.has(commit)) return false;
    if (this.#isFull()) return false;
    const fresh = join(this.#commits(), `.new-${this.#counter++}`);
    const result = await write(repository, commit, fresh);
    if (result.kind !== 'ok') {
      if (result.kind === 'unfit') this.#rememberUnfit(commit);
      log.warn({ target, commit, why: result.message }, 'this commit is not shared as a checkout');
      return false;
    }
    await rename(fresh, join(this.#commits(), commit));
    this.#kept.set(commit, { bytes: result.bytes, retiredAt: this.#options.clock.now() });
    return true;
  }

  /** A link cannot be changed, only replaced: readers see the old one or the new one. */
  async #point(target: TargetKey, commit: string): Promise<void> {
    const link = this.#linkOf(target);
    await mkdir(dirname(link), { recursive: true, mode: 0o755 });
    // A name that no GitTarget can have.
    const fresh = join(dirname(link), `.new-${this.#counter++}`);
    await symlink(join('..', '..', 'commits', commit), fresh);
    await rename(fresh, link);
  }

  #leave(target: TargetKey): void {
    const commit = this.#shown.get(target);
    this.#shown.delete(target);
    if (commit !== undefined) this.#retire(commit);
  }

  #retire(commit: string): void {
    const kept = this.#kept.get(commit);
    if (kept === undefined || [...this.#shown.values()].includes(commit)) return;
    kept.retiredAt = this.#options.clock.now();
    this.#sweepLater();
  }

  #isFull(): boolean {
    const bytes = [...this.#kept.values()].reduce((sum, one) => sum + one.bytes, 0);
    const full = this.#kept.size >= this.#limits.commits || bytes >= this.#limits.bytes;
    if (full) this.#sweepLater();
    return full;
  }

  #rememberUnfit(commit: string): void {
    this.#unfit.add(commit);
    const [oldest] = this.#unfit;
    if (this.#unfit.size > 1_000 && oldest !== undefined) this.#unfit.delete(oldest);
  }

  /** Removes what nobody has been shown for long enough. Its name goes first, so that nobody comes upon half of it. */
  async #sweep(): Promise<void> {
    for (const [commit, { retiredAt }] of this.#kept) {
      if (retiredAt === undefined || this.#options.clock.now() - retiredAt < this.#limits.graceMs) continue;
      const old = join(this.#commits(), `.old-${this.#counter++}`);
      // At once, so that nobody renews it in between.
      renameSync(join(this.#commits(), commit), old);
      this.#kept.delete(commit);
      await this.#options.remove(old);
    }
  }

  #sweepLater(): void {
    this.#cancelSweep();
    const { clock } = this.#options;
    const oldest = Math.min(...[...this.#kept.values()].map(({ retiredAt }) => retiredAt ?? clock.now()));
    const waitMs = Math.max(1_000, oldest + this.#limits.graceMs - clock.now());
    this.#cancelSweep = clock.after(waitMs, () => {
      void this.#inTurn('removing old shared checkouts', async () => {
        if (this.#stopped) return;
        await this.#sweep();
        // Places are free: who had to wait is shown now.
        for (const target of this.#wishes.keys()) await this.#fulfil(target);
        if ([...this.#kept.values()].some(({ retiredAt }) => retiredAt !== undefined)) this.#sweepLater();
      });
    });
  }

  /** Of an earlier life: whole commits stay for those who read them, the rest goes. */
  async #takeOver(): Promise<void> {
    const { dir, remove, clock } = this.#options;
    await mkdir(this.#commits(), { recursive: true, mode: 0o755 });
    await rm(join(dir, 'targets'), { recursive: true, force: true });
    await mkdir(join(dir, 'targets'), { mode: 0o755 });
    for (const name of await readdir(this.#commits())) {
      if (!commitShape.test(name)) await remove(join(this.#commits(), name));
      else this.#kept.set(name, { bytes: 0, retiredAt: clock.now() });
    }
    if (this.#kept.size > 0) this.#sweepLater();
  }

  #commits(): string {
    return join(this.#options.dir, 'commits');
  }

  /** The key is `namespace/name`, and neither can hold a slash or be a dot. */
  #linkOf(target: TargetKey): string {
    return join(this.#options.dir, 'targets', target);
  }

  #inTurn(doing: string, work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(() => this.#guarded(doing, work));
    return this.#work;
  }

  /** Whatever is wrong with the volume: plugins do without. */
  async #guarded(doing: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.log.error({ err: error }, `${doing} failed; plugins use their own copy`);
    }
  }
}
