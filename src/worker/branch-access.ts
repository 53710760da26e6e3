/**
 * Which login a branch is reached with. Several GitProviders may name one repository; each of them was verified against it, and
 * one whose login is refused now must not stop the others (contracts 6).
 */
import type { Access } from '../git/credentials.ts';
import type { TargetRun } from './target-run.ts';

const aboutTheLogin: ReadonlySet<string> = new Set([
  'AuthenticationFailed',
  'HostKeyUnknown',
  'RepositoryNotFound',
  'Refused',
]);

export class BranchAccess {
  readonly #targets: ReadonlyMap<string, TargetRun>;
  #worked: Access | undefined;

  constructor(targets: ReadonlyMap<string, TargetRun>) {
    this.#targets = targets;
  }

  /**
   * Asks with one login after the other until the answer is not about the login: the preferred target's first, then the one
   * that worked last. Undefined when there is none.
   */
  async ask<Answer extends { readonly kind: string }>(
    question: (access: Access) => Promise<Answer>,
    preferred?: string,
  ): Promise<Answer | undefined> {
    let first: Answer | undefined;
    for (const access of this.#inOrder(preferred)) {
      const answer = await question(access);
      if (!isAboutLogin(answer)) {
        this.#worked = access;
        return answer;
      }
      first ??= answer;
    }
    return first;
  }

  #inOrder(preferred: string | undefined): Set<Access> {
    const all = [...this.#targets.values()].map(({ spec }) => spec.access);
    const mine = preferred === undefined ? undefined : this.#targets.get(preferred)?.spec.access;
    const worked = all.filter((access) => access === this.#worked);
    return new Set([...(mine === undefined ? [] : [mine]), ...worked, ...all]);
  }
}

function isAboutLogin(answer: { readonly kind: string }): boolean {
  return answer.kind === 'failed' && 'reason' in answer && aboutTheLogin.has(String(answer.reason));
}
