/** The newest edits of a branch that reached the remote, for answers that say what a revision lacks. */
import type { PublishedEdit } from '../core/gate/index.ts';

const limit = 500;

export class PublishedEdits {
  readonly #edits: PublishedEdit[] = [];

  add(edits: readonly PublishedEdit[]): void {
    this.#edits.push(...edits);
    if (this.#edits.length > limit) this.#edits.splice(0, this.#edits.length - limit);
  }

  /** Those made by these commits, oldest first. */
  of(commits: ReadonlySet<string>): readonly PublishedEdit[] {
    return this.#edits.filter(({ commit }) => commits.has(commit));
  }
}
