/** The newest edits of a branch that reached the remote, for answers that say what a revision lacks. */
import type { Write } from '../core/branch/state.ts';
import type { PublishedEdit } from '../core/gate/index.ts';
import { describeObject, objectKey } from '../core/identity.ts';
import type { PlannedOutcome } from './commit-writes.ts';

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

/** What a published commit says of each of its objects. */
export function publishedEdits(
  { target, author }: Write,
  commit: string,
  { plan }: PlannedOutcome,
): PublishedEdit[] {
  const name = author.git?.name ?? author.managers.join(', ');
  return plan.edits.flatMap(({ objects, fields }) =>
    objects.map((object) => {
      const key = objectKey(object);
      const own = fields.filter((one) => objectKey(one.object) === key).map(({ field }) => field);
      return { target, object: describeObject(object), fields: own, commit, author: name };
    }),
  );
}
