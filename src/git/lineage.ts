/**
 * Which of our own commits stands on which, the newest of them. A commit's parent never changes, so what is noted stays true;
 * what is not noted is asked of git.
 */

/** A flush makes a commit per edit at most. */
const noted = 10_000;

export class Lineage {
  readonly #parents = new Map<string, string | null>();

  /** A chain, oldest first, on its base; null: the first has no parent. */
  note(base: string | null, commits: readonly string[]): void {
    let parent = base;
    for (const commit of commits) {
      this.#parents.set(commit, parent);
      parent = commit;
    }
    for (const oldest of this.#parents.keys()) {
      if (this.#parents.size <= noted) break;
      this.#parents.delete(oldest);
    }
  }

  /** True: the tip is the ancestor or stands on it. False: that is not known. */
  standsOn(tip: string, ancestor: string): boolean {
    let at: string | null | undefined = tip;
    while (at !== ancestor && typeof at === 'string') at = this.#parents.get(at);
    return at === ancestor;
  }
}
