/**
 * One GitTarget at work: its streams, its handled states, what is under way, and what people shall see of it.
 *
 * It belongs to one branch and one cluster for its whole life; settings change in place, so streams are never restarted
 * for them.
 */
import { newBook } from '../core/apply/index.ts';
import type { ObjectChange, TargetKey, TargetSettings } from '../core/branch/state.ts';
import type { IndexCache } from '../core/folder/index.ts';
import {
  describeObject,
  type ObjectId,
  objectKey,
  parseApiVersion,
  parseObjectKey,
} from '../core/identity.ts';
import type { JsonObject } from '../core/json.ts';
import type { KustomizeOptions } from '../core/kustomize/index.ts';
import {
  builtinResource,
  type Change,
  type Plan,
  type PlanOptions,
  type ResourceType,
} from '../core/plan/index.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Mask, Sealer } from '../core/sealed/index.ts';
import { parseTemplate, type Template } from '../core/template/index.ts';
import type { Message } from '../core/template/message.ts';
import { collectionKey, type StreamState } from '../kube/collection.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import type { CollectionFeed } from './collection-feed.ts';
import { FolderAppliers } from './folder-appliers.ts';
import type { HandledStates, HandledUpdate } from './handled.ts';
import type { MirrorSpec, Sealing, WatchedCollection } from './mirror-spec.ts';
import { PlannedChanges } from './planned-changes.ts';
import { takenBack } from './sensitive-state.ts';
import { UnderWay } from './under-way.ts';

export interface TargetRunOptions {
  readonly spec: MirrorSpec;
  readonly handled: HandledStates;
  readonly facts: ClusterFacts;
  isSensitive(resource: ResourceType & { readonly group: string }): boolean;
  /** Masks the values of sensitive objects. */
  readonly mask: Mask;
  /** Builds kustomize folders, and keeps what was built. */
  readonly kustomize: KustomizeOptions;
  /** Opens and seals for these recipients, with these keys. */
  sealerFor(sealing: Sealing): Sealer;
  /** What Git states of an object at a commit; undefined when it or the commit is not there, or it cannot be opened. */
  documentAt(
    commit: string,
    object: { id: ObjectId; namespaced: boolean },
    sealer: Sealer | undefined,
  ): Promise<JsonObject | undefined>;
  /** Whether Git has a document of the object at a commit, readable or not. */
  hasDocumentAt(commit: string, object: { id: ObjectId; namespaced: boolean }): Promise<boolean>;
  /** Whether the remote's branch holds a commit. */
  isPublished(commit: string): Promise<boolean>;
  /** The remote's branch as last seen. */
  tip(): string | null | undefined;
  /** Whether our repository holds a commit. */
  hasCommit(commit: string): Promise<boolean>;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** Notices kept for status. */
const noticeLimit = 10;

export class TargetRun {
  readonly key: TargetKey;
  readonly handled: HandledStates;
  readonly underWay = new UnderWay();
  /** Edits and applier's writes since the flush marks that matter. */
  readonly book = newBook();
  /** Applier's writes over edits made after a mark, so far. */
  collisions = 0;
  readonly states = new Map<string, { collection: WatchedCollection; state: StreamState }>();
  /** Refused edits by object key. */
  readonly refused = new Map<string, Refusal>();
  /** Keys of all objects whose newest edit is refused; a closed folder refuses them without naming each. */
  readonly #refusedKeys = new Set<string>();
  /** Keys of objects that are gone but whose document prune keeps. */
  readonly retained = new Set<string>();
  /** By collection, as in `states`. */
  readonly feeds = new Map<string, CollectionFeed>();
  templates: { live: Template | undefined; reconcile: Template | undefined };
  /** A snapshot that a person asked for has not settled yet on these collections. */
  readonly resyncing = new Set<string>();
  readonly appliers: FolderAppliers;
  /** At least one snapshot was whole. */
  settledOnce = false;
  readonly #options: TargetRunOptions;
  readonly #changes: PlannedChanges;
  readonly #notices = new Map<string, string>();
  #spec: MirrorSpec;
  #sealer: Sealer | undefined;

  constructor(options: TargetRunOptions) {
    this.#options = options;
    this.#spec = options.spec;
    this.key = options.spec.key;
    this.handled = options.handled;
    const folder = () => {
      const { access, branch, path } = this.#spec;
      return { repository: access.url.key, branch, path };
    };
    this.appliers = new FolderAppliers(options.facts, folder, () => this.#spec.tracking);
    this.#changes = new PlannedChanges({
      ...options,
      underWay: this.underWay,
      appliers: this.appliers,
      spec: () => this.#spec,
      maskFor: (id) => this.#maskFor(id),
      documentsAt: (commits, id) => this.#documentsAt(commits, id),
    });
    this.templates = readTemplates(options.spec);
    this.#sealer = this.#sealerOf(options.spec);
  }

  get spec(): MirrorSpec {
    return this.#spec;
  }

  change(spec: MirrorSpec): void {
    if (spec.sealing !== this.#spec.sealing) this.#sealer = this.#sealerOf(spec);
    this.#spec = spec;
    this.templates = readTemplates(spec);
  }

  #sealerOf({ sealing }: MirrorSpec): Sealer | undefined {
    return sealing === undefined ? undefined : this.#options.sealerFor(sealing);
  }

  settings(): TargetSettings {
    const { uid, idleTimeoutMs, maxDurationMs } = this.#spec;
    return { uid, idleTimeoutMs, maxDurationMs };
  }

  get notices(): readonly string[] {
    return [...this.#notices.values()];
  }

  isSensitive(id: ObjectId): boolean {
    const type = this.#resourceOf(id.group, id.kind);
    return this.#options.isSensitive({ ...type, group: id.group });
  }

  /** One change as the planner wants it, with the state it is compared with. */
  planChange(change: ObjectChange, sequence: number): Promise<Change> {
    return this.#changes.plan(change, sequence);
  }

  /** How its folder is built. */
  get kustomize(): KustomizeOptions {
    return { ...this.#options.kustomize, isApplied: this.appliers.isApplied };
  }

  async planOptions(cache: IndexCache): Promise<PlanOptions> {
    const { path, placement, serializeNamespace, prune, ignoreManagers } = this.#spec;
    return {
      folder: path,
      placement,
      prune,
      managers: { appliers: [], ignore: ignoreManagers },
      crds: await this.#options.facts.crds(this.#spec.collections),
      isSensitive: (id) => this.isSensitive(id),
      adoptsUnread: true,
      kustomize: this.kustomize,
      ...(this.#sealer === undefined ? {} : { sealer: this.#sealer }),
      resourceOf: (apiVersion, kind) => this.#resourceOf(parseApiVersion(apiVersion).group, kind),
      bootstrap: true,
      cache,
      ...(serializeNamespace === undefined ? {} : { serializeNamespace }),
    };
  }

  /** Hands on a message's text and tells when the target's own template could not be used. */
  tell(message: Message): string {
    if (message.problem !== undefined)
      this.#options.event('Warning', 'MessageTemplateFailed', message.problem);
    return message.text;
  }

  /** Words for status and an Event, once each. */
  notice(reason: string, about: string, message: string): void {
    const key = `${reason} ${about}`;
    if (this.#notices.get(key) === message) return;
    this.#notices.delete(key);
    this.#notices.set(key, message);
    for (const oldest of this.#notices.keys()) {
      if (this.#notices.size <= noticeLimit) break;
      this.#notices.delete(oldest);
    }
    this.#options.event('Normal', reason, message);
  }

  refuse(refusal: Refusal, key: string): void {
    const before = this.refused.get(key);
    this.refused.set(key, refusal);
    if (before?.reason === refusal.reason && before.message === refusal.message) return;
    const object = refusal.object === undefined ? '' : `${describeObject(refusal.object)}: `;
    this.#options.event('Warning', refusal.reason, `${object}${refusal.message}`);
  }

  /** Notes which objects of a planned write have no place in Git for now. */
  takeOutcomes(done: readonly ObjectChange[], { outcomes, refused }: Plan): void {
    for (const { key } of done) {
      this.refused.delete(key);
      this.#refusedKeys.delete(key);
    }
    for (const { object, outcome } of outcomes)
      if (outcome === 'refused') this.#refusedKeys.add(objectKey(object));
    for (const refusal of refused) this.refuse(refusal, refusalKey(refusal));
  }

  /** Only somebody's commit can help now. */
  get waitsForGit(): boolean {
    return this.#refusedKeys.size > 0;
  }

  /** Every collection takes a new snapshot; asked for by a person, it makes live win in a mirror. */
  resync(asked: boolean): void {
    if (asked) for (const name of this.states.keys()) this.resyncing.add(name);
    for (const key of this.#refusedKeys) this.underWay.forget(key);
  }

  /** The key under which a collection's feed and state are kept. */
  nameOf(collection: WatchedCollection): string {
    return collectionKey(collection);
  }

  /** The selectors under which a kind is watched in one place. */
  watchedScope({ group, resource, namespace }: WatchedCollection): string {
    const same = this.#spec.collections.filter(
      (one) => one.group === group && one.resource === resource && one.namespace === namespace,
    );
    return [...new Set(same.map(({ labelSelector }) => labelSelector))].sort().join(' or ');
  }

  /** Forgets collections that are no longer watched. */
  dropStates(wanted: ReadonlySet<string>): void {
    for (const name of [...this.states.keys(), ...this.feeds.keys()]) {
      if (wanted.has(name)) continue;
      this.states.delete(name);
      this.feeds.delete(name);
    }
  }

  /** Counts the documents that prune keeps although their object is gone. */
  takeRetention(plan: Plan): void {
    for (const { object, outcome } of plan.outcomes) {
      const key = objectKey(object);
      if (outcome === 'retained') this.retained.add(key);
      else this.retained.delete(key);
    }
  }

  /** Whether a commit holds a document of the object; undefined when the commit cannot be read. */
  async isInCommit(commit: string, id: ObjectId): Promise<boolean | undefined> {
    if (!(await this.#options.hasCommit(commit))) return undefined;
    const { namespaced } = this.#resourceOf(id.group, id.kind);
    return this.#options.hasDocumentAt(commit, { id, namespaced });
  }

  /** Git moved: what was refused is read and planned again. */
  async lookAtRefusedAgain(): Promise<void> {
    // What a closed folder was refused for belongs to no object.
    for (const key of this.refused.keys()) if (!this.#refusedKeys.has(key)) this.refused.delete(key);
    for (const key of [...this.#refusedKeys]) {
      const refusal = this.refused.get(key);
      this.#refusedKeys.delete(key);
      if (!(await this.#reread(key))) this.#refusedKeys.add(key);
      else if (this.refused.get(key) === refusal) this.refused.delete(key);
    }
  }

  /**
   * The branch lost commits: objects they wrote go back to what is still in Git at the merge base, so that edits that are
   * still live are found again (contracts 3).
   */
  async takeBack(keys: readonly string[], mergeBase: string | undefined, tip: string): Promise<void> {
    const updates: HandledUpdate[] = [];
    for (const key of keys) {
      const record = this.handled.get(key);
      if (record === undefined) continue;
      const [document] = mergeBase === undefined ? [] : await this.#documentsAt([mergeBase], record.id);
      updates.push({ key, ...takenBack(record, document, this.#maskFor(record.id)) });
    }
    // Only now do the records fit the new history; a crash before this line finds the same again.
    this.handled.fits(tip);
    await this.handled.put(updates);
    await this.reread(updates.map(({ key }) => key));
  }

  /** Reads objects from the API server and hands them to their collections as if they had just changed. */
  async reread(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#reread(key);
  }

  /** Returns false when the object could not be read: nothing is known of it. */
  async #reread(key: string): Promise<boolean> {
    const id = parseObjectKey(key);
    const feed = [...this.feeds.values()].find((one) => one.holds(id));
    if (feed === undefined) return false;
    this.underWay.forget(key);
    return feed.reread(id, 'now');
  }

  async #documentsAt(commits: readonly string[], id: ObjectId): Promise<JsonObject[]> {
    const { namespaced } = this.#resourceOf(id.group, id.kind);
    const found = await Promise.all(
      commits.map((commit) => this.#options.documentAt(commit, { id, namespaced }, this.#sealer)),
    );
    return found.filter((document) => document !== undefined);
  }

  #maskFor(id: ObjectId): Mask | undefined {
    return this.isSensitive(id) ? this.#options.mask : undefined;
  }

  #resourceOf(group: string, kind: string): ResourceType {
    const watched = this.#spec.collections.find((one) => one.group === group && one.kind === kind);
    if (watched !== undefined) return { resource: watched.resource, namespaced: watched.namespaced };
    return (
      builtinResource(group === '' ? 'v1' : `${group}/v1`, kind) ?? {
        resource: kind.toLowerCase(),
        namespaced: true,
      }
    );
  }
}

function readTemplates(spec: MirrorSpec): { live: Template | undefined; reconcile: Template | undefined } {
  return { live: readTemplate(spec.liveTemplate), reconcile: readTemplate(spec.reconcileTemplate) };
}

/** The controller refuses a target with a broken template; here it only means the built-in one. */
function readTemplate(text: string | undefined): Template | undefined {
  if (text === undefined) return undefined;
  const parsed = parseTemplate(text);
  return parsed.ok ? parsed.template : undefined;
}

/** The key under which refusals of a change are kept. */
function refusalKey(refusal: Refusal): string {
  return refusal.object === undefined ? `folder ${refusal.path ?? ''}` : objectKey(refusal.object);
}
