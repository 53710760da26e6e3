/**
 * What is between a stream and Git: the newest accepted state per object until its write is confirmed, and the states
 * earlier writes assumed, so that a later edit of the same object is compared with the right base.
 */
import type { ObjectChange } from '../core/branch/state.ts';

/** Stands for "the object is gone" where others have the digest of a state. */
export const deletedDigest = 'deleted';

/** A planned write that dealt with the object. */
export interface Assumed {
  readonly sequence: number;
  readonly change: ObjectChange;
  /** The blob with the document as the write leaves it; only of a sensitive object. */
  readonly documentBlob: string | undefined;
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

  /** What a pending write before `sequence` dealt with; undefined when there is none. */
  base(key: string, sequence: number): Assumed | undefined {
    return this.#assumed.get(key)?.findLast((assumed) => assumed.sequence < sequence);
  }

  /** A write was planned and did deal with the object. Planning it again replaces what was assumed. */
  assume(sequence: number, change: ObjectChange, documentBlob?: string): void {
    const others = (this.#assumed.get(change.key) ?? []).filter((assumed) => assumed.sequence !== sequence);
    const all = [...others, { sequence, change, documentBlob }].sort((a, b) => a.sequence - b.sequence);
    this.#assumed.set(change.key, all);
  }

  /** The write could not deal with the object: the next edit is compared with what was before. */
  drop(key: string, sequence: number): void {
    this.#keep(key, (assumed) => assumed.sequence !== sequence);
  }

  /** The write is final. Returns what it dealt with; undefined when it refused the object. */
  confirm(key: string, sequence: number): Assumed | undefined {
    const done = this.#assumed.get(key)?.find((assumed) => assumed.sequence === sequence);
    this.#keep(key, (assumed) => assumed.sequence > sequence);
    if (done !== undefined && this.digest(key) === done.change.digest) this.#newest.delete(key);
    return done;
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
