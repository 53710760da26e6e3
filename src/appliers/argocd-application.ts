/**
 * What an Application of Argo CD says of itself, read uncached, and the few things we ask of Argo CD: to look again, to end
 * a sync, to start one. Decides nothing; the door of Argo CD and the controllers call it.
 */
import type { LastSync, SyncOperation, SyncSource } from '../core/apply/index.ts';
import { canonicalJson, equalJson, isObject, type Json, type JsonObject, valueAt } from '../core/json.ts';
import { type KubeClient, resourceVersionOf } from '../kube/client.ts';

export const applications = { group: 'argoproj.io', version: 'v1alpha1', resource: 'applications' } as const;

export interface ApplicationName {
  readonly namespace: string;
  readonly name: string;
}

/** A Git source of the spec. */
export interface SpecSource {
  readonly repoURL: string;
  readonly targetRevision: string;
  readonly path: string;
}

export interface Application extends ApplicationName {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly sources: readonly SpecSource[];
  /** `server` and `name`: one of them is ''. */
  readonly destination: { readonly server: string; readonly name: string; readonly namespace: string };
  readonly selfHeal: boolean;
  /** The annotation `configbutler.ai/door: open`. */
  readonly doorOpen: boolean;
  /** The commit in the annotation `configbutler.ai/allow-revision`. */
  readonly allowRevision: string | undefined;
  readonly notice: Notice | undefined;
  /** An operation was asked for and has not ended. */
  readonly busy: boolean;
  /** The newest one. */
  readonly operation: SyncOperation | undefined;
  /** As it was asked for. */
  readonly asked: JsonObject;
  /** What it asked for, where that names commits. */
  readonly askedSources: readonly SyncSource[];
  /** The newest operation was started by us. */
  readonly startedByUs: boolean;
  readonly lastSync: Omit<LastSync, 'oldGate'> | undefined;
  /** What the result of the newest sync says of each SyncGate. */
  readonly gatesSaid: readonly GateSaid[];
}

export interface GateSaid {
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
}

export interface Notice {
  readonly content: string;
  readonly severity: 'info' | 'warning';
}

export type ApplicationRead =
  | { readonly kind: 'ok'; readonly application: Application }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'unknown'; readonly message: string };

export const allowRevisionAnnotation = 'configbutler.ai/allow-revision';
export const doorAnnotation = 'configbutler.ai/door';
const refreshAnnotation = 'argocd.argoproj.io/refresh';
const noticeContent = 'notice.argocd.argoproj.io/content';
const noticeSeverity = 'notice.argocd.argoproj.io/severity';
const deadlineMs = 5_000;

export async function readApplicationNow(
  client: KubeClient,
  name: ApplicationName,
): Promise<ApplicationRead> {
  const { namespace } = name;
  const read = await client.get({ ...applications, namespace, name: name.name }, { deadlineMs });
  if (read.kind === 'not-found') return { kind: 'not-found' };
  if (read.kind !== 'ok') return { kind: 'unknown', message: read.message };
  return { kind: 'ok', application: applicationOf(read.object) };
}

/** Asks Argo CD to compare the Application with the newest commit. Returns what went wrong. */
export function requestRefresh(client: KubeClient, name: ApplicationName): Promise<string | undefined> {
  return patch(client, name, { metadata: { annotations: { [refreshAnnotation]: 'normal' } } });
}

/** Ends a running sync, as `argocd app terminate-op` does. Fails when the Application has changed since it was read. */
export function terminate(client: KubeClient, application: Application): Promise<string | undefined> {
  const { resourceVersion } = application;
  return patch(client, application, {
    metadata: { resourceVersion },
    status: { operationState: { phase: 'Terminating' } },
  });
}

/** Asks for a sync. Fails when the Application has changed since it was read, so no other operation is replaced. */
export function startOperation(
  client: KubeClient,
  application: Application,
  operation: JsonObject,
): Promise<string | undefined> {
  const { resourceVersion } = application;
  return patch(client, application, { metadata: { resourceVersion }, operation });
}

/** Shows a notice on the Application's page, or takes ours away. */
export function setNotice(
  client: KubeClient,
  name: ApplicationName,
  notice: Notice | undefined,
): Promise<string | undefined> {
  const annotations: JsonObject = {
    [noticeContent]: notice?.content ?? null,
    [noticeSeverity]: notice?.severity ?? null,
  };
  return patch(client, name, { metadata: { annotations } });
}

/**
 * The same sync at other commits, with a word why.
 * @param revisions by position in `spec.sources`; one with the position undefined where there is only one source
 */
export function operationAt(
  asked: JsonObject,
  revisions: readonly { readonly index: number | undefined; readonly revision: string }[],
  info: string,
): JsonObject {
  const sync = isObject(asked.sync) ? { ...asked.sync } : {};
  const single = revisions.find(({ index }) => index === undefined);
  if (single !== undefined) {
    sync.revision = single.revision;
    delete sync.revisions;
  } else {
    const length = Math.max(0, ...revisions.map(({ index = 0 }) => index + 1));
    const known = Array.isArray(sync.revisions) ? sync.revisions : [];
    const all = Array.from({ length: Math.max(length, known.length) }, (_none, at): Json => known[at] ?? '');
    for (const { index = 0, revision } of revisions) all[index] = revision;
    sync.revisions = all;
  }
  const before = Array.isArray(asked.info) ? asked.info : [];
  const words = before.filter((one) => !(isObject(one) && one.name === infoName));
  return { ...asked, sync, info: [...words, { name: infoName, value: info }] };
}

/** Name of our entry in `operation.info`. */
const infoName = 'gitops-reverser';

export function applicationOf(object: JsonObject): Application {
  const annotations = valueAt(object, ['metadata', 'annotations']);
  const annotation = (name: string) => textOf(isObject(annotations) ? annotations[name] : undefined);
  const automated = valueAt(object, ['spec', 'syncPolicy', 'automated']);
  const content = annotation(noticeContent);
  const severity = annotation(noticeSeverity);
  const asked = valueAt(object, ['status', 'operationState', 'operation']);
  return {
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    resourceVersion: resourceVersionOf(object),
    sources: sourcesOf(valueAt(object, ['spec']), []).map(({ repoURL, targetRevision, path }) => ({
      repoURL,
      targetRevision,
      path,
    })),
    destination: {
      server: textAt(object, 'spec', 'destination', 'server') ?? '',
      name: textAt(object, 'spec', 'destination', 'name') ?? '',
      namespace: textAt(object, 'spec', 'destination', 'namespace') ?? '',
    },
    selfHeal: isObject(automated) && automated.enabled !== false && automated.selfHeal === true,
    doorOpen: annotation(doorAnnotation) === 'open',
    allowRevision: annotation(allowRevisionAnnotation),
    notice:
      content === undefined ? undefined : { content, severity: severity === 'warning' ? 'warning' : 'info' },
    busy: isObject(object.operation),
    operation: operationOf(object),
    asked: isObject(asked) ? asked : {},
    askedSources: askedSourcesOf(object, valueAt(asked, ['sync'])),
    startedByUs: isOurs(asked),
    lastSync: lastSyncOf(object),
    gatesSaid: gateResults(object).map((result) => ({
      namespace: textOf(result.namespace) ?? '',
      name: textOf(result.name) ?? '',
      message: textOf(result.message) ?? '',
    })),
  };
}

function isOurs(asked: Json | undefined): boolean {
  const info = valueAt(asked, ['info']);
  return Array.isArray(info) && info.some((one) => isObject(one) && one.name === infoName);
}

function operationOf(object: JsonObject): SyncOperation | undefined {
  const state = valueAt(object, ['status', 'operationState']);
  if (!isObject(state)) return undefined;
  const sync = valueAt(state, ['operation', 'sync']);
  const startedAt = Date.parse(textOf(state.startedAt) ?? '');
  if (!isObject(sync) || Number.isNaN(startedAt)) return undefined;
  const limit = Number(valueAt(state, ['operation', 'retry', 'limit']) ?? 0);
  const result = isObject(state.syncResult) ? state.syncResult : undefined;
  return {
    phase: phaseOf(state.phase),
    attemptEnded: textOf(state.finishedAt) !== undefined,
    startedAt,
    retries: limit < 0 || Number(state.retryCount ?? 0) < limit,
    automated: valueAt(state, ['operation', 'initiatedBy', 'automated']) === true,
    manifests: Array.isArray(sync.manifests) && sync.manifests.length > 0,
    overridesSource: !isOwnSource(object, sync),
    sources: result === undefined ? undefined : resolved(result),
  };
}

/** Argo CD copies the sources of the spec into the syncs it starts. */
function isOwnSource(object: JsonObject, { source, sources }: JsonObject): boolean {
  const none = sources === undefined || (Array.isArray(sources) && sources.length === 0);
  const isOne = source === undefined || equalJson(source, valueAt(object, ['spec', 'source']));
  return isOne && (none || equalJson(sources, valueAt(object, ['spec', 'sources'])));
}

/** Those of the spec, unless the sync names its own. */
function askedSourcesOf(object: JsonObject, sync: Json | undefined): SyncSource[] {
  if (!isObject(sync)) return [];
  const { source, sources, revision = '', revisions } = sync;
  const several = Array.isArray(sources) && sources.length > 0;
  const holder = source !== undefined || several ? sync : valueAt(object, ['spec']);
  const commits = Array.isArray(revisions) && revisions.length > 0 ? revisions : [revision];
  return sourcesOf(holder, commits).filter((one) => commit.test(one.revision));
}

/** Undefined while a Git source has no commit yet. */
function resolved(result: JsonObject): SyncSource[] | undefined {
  const several = Array.isArray(result.sources) && result.sources.length > 0;
  const revisions = several ? result.revisions : [result.revision ?? ''];
  const sources = sourcesOf(result, Array.isArray(revisions) ? revisions : []);
  return sources.every(({ revision }) => commit.test(revision)) ? sources : undefined;
}

const commit = /^[0-9a-f]{40}$/;

/** Charts of a Helm repository are no Git sources. Positions count all of them. */
function sourcesOf(holder: Json | undefined, revisions: readonly Json[]): SyncSource[] {
  const several = valueAt(holder, ['sources']);
  const one = valueAt(holder, ['source']);
  const many = Array.isArray(several) && several.length > 0;
  const all: readonly Json[] = many ? several : one === undefined ? [] : [one];
  return all.flatMap((source, index): SyncSource[] => {
    if (!isObject(source) || textOf(source.chart) !== undefined) return [];
    return [
      {
        repoURL: textOf(source.repoURL) ?? '',
        targetRevision: textOf(source.targetRevision) ?? '',
        path: textOf(source.path) ?? '',
        revision: textOf(revisions[index]) ?? '',
        index: many ? index : undefined,
      },
    ];
  });
}

function lastSyncOf(object: JsonObject): Application['lastSync'] {
  const state = valueAt(object, ['status', 'operationState']);
  const sync = valueAt(state, ['operation', 'sync']);
  if (!isObject(state) || !isObject(sync) || sync.dryRun === true) return undefined;
  const [gate] = gateResults(object);
  const automated = valueAt(state, ['operation', 'initiatedBy', 'automated']) === true;
  return {
    applied: state.phase === 'Succeeded',
    automated,
    partial: Array.isArray(sync.resources) && sync.resources.length > 0,
    applyStrategy: isObject(valueAt(sync, ['syncStrategy', 'apply'])),
    goesBack: goesBack(object),
    gate: gate === undefined ? 'none' : textOf(gate.hookType) === 'PreSync' ? 'hook' : 'resource',
  };
}

function gateResults(object: JsonObject): JsonObject[] {
  const results = valueAt(object, ['status', 'operationState', 'syncResult', 'resources']);
  const all = Array.isArray(results) ? results.filter(isObject) : [];
  return all.filter(({ kind, group }) => kind === 'SyncGate' && group === 'configbutler.ai');
}

/** The newest entry of the history was there before, with others in between. */
function goesBack(object: JsonObject): boolean {
  const history = valueAt(object, ['status', 'history']);
  const revisions = (Array.isArray(history) ? history : []).map((entry) =>
    canonicalJson([valueAt(entry, ['revision']) ?? '', valueAt(entry, ['revisions']) ?? []]),
  );
  const newest = revisions.at(-1);
  return newest !== undefined && newest !== revisions.at(-2) && revisions.slice(0, -2).includes(newest);
}

function phaseOf(phase: Json | undefined): SyncOperation['phase'] {
  switch (phase) {
    case 'Running':
    case 'Terminating':
    case 'Succeeded':
      return phase;
    default:
      return 'Failed';
  }
}

async function patch(
  client: KubeClient,
  { namespace, name }: ApplicationName,
  body: JsonObject,
): Promise<string | undefined> {
  const patched = await client.patch(
    { ...applications, namespace, name },
    { type: 'merge', body },
    { deadlineMs },
  );
  return patched.kind === 'ok' ? undefined : patched.message;
}

function textAt(object: JsonObject, ...path: string[]): string | undefined {
  return textOf(valueAt(object, path));
}

/** A text that is not empty. */
function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
