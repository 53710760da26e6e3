/**
 * What is between a stream and Git: the newest accepted state per object until its write is confirmed, and the states
 * earlier writes assumed, so that a later edit of the same object is compared with the right base.
 */
import type { ObjectChange } from '../core/branch/state.ts';

/** Stands for "the object is gone" where others have the digest of a state. */
export const deletedDigest = 'deleted';

/** A planned write that dealt with the object. */
interface Assumed {
  readonly sequence: number;
  readonly change: ObjectChange;
}

export class UnderWay {
  readonly #newest = new Map<string, { readonly digest: string; resourceVersion: string }>();
  readonly #assumed = new Map<string, Assumed[]>();

  begin(change: ObjectChange): void {
    this.#newest.set(change.key, { digest: change.digest, resourceVersion: change.resourceVersion });
  }

  /** Digest of the newest accepted state; undefined when nothing is under way. */
  digest(key: string): string | undefined {
    return this.#newest.get(key)?.digest;
  }

  isDelete(key: string): boolean {
    return this.digest(key) === deletedDigest;
  }

  resourceVersion(key: string): string | undefined {
    return this.#newest.get(key)?.resourceVersion;
  }

  /** The state under way was seen again in a newer version that changed nothing that matters. */
  touch(key: string, resourceVersion: string): void {
    const newest = this.#newest.get(key);
    if (newest !== undefined) newest.resourceVersion = resourceVersion;
  }

  /** The change that a pending write before `sequence` dealt with; undefined when there is none. */
  base(key: string, sequence: number): ObjectChange | undefined {
    return this.#assumed.get(key)?.findLast((assumed) => assumed.sequence < sequence)?.change;
  }

  /** A write was planned and did deal with the object. Planning it again replaces what was assumed. */
  assume(sequence: number, change: ObjectChange): void {
    const others = (this.#assumed.get(change.key) ?? []).filter((assumed) => assumed.sequence !== sequence);
    const all = [...others, { sequence, change }].sort((a, b) => a.sequence - b.sequence);
    this.#assumed.set(change.key, all);
  }

  /** The write could not deal with the object: the next edit is compared with what was before. */
  drop(key: string, sequence: number): void {
    this.#keep(key, (assumed) => assumed.sequence !== sequence);
  }

  /** The write is final. Returns the change it dealt with; undefined when it refused the object. */
  confirm(key: string, sequence: number): ObjectChange | undefined {
    const change = this.#assumed.get(key)?.find((assumed) => assumed.sequence === sequence)?.change;
    this.#keep(key, (assumed) => assumed.sequence > sequence);
    if (change !== undefined && this.digest(key) === change.digest) this.#newest.delete(key);
    return change;
  }

  /** A refused state stays known, so that status updates do not plan it again. Looking again forgets it. */
  forget(key: string): void {
    this.#newest.delete(key);
  }

  #keep(key: string, wanted: (assumed: Assumed) => boolean): void {
    const rest = (this.#assumed.get(key) ?? []).filter(wanted);
    if (rest.length === 0) this.#assumed.delete(key);
    else this.#assumed.set(key, rest);
  }
}
