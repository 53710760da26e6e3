/**
 * What Flux says of a GitRepository and of the Kustomizations that apply it, read uncached, and the two things we ask of
 * Flux: to look again at a source, and to reconcile again. Decides nothing; the Flux door calls it.
 */
import { isObject, type JsonObject, valueAt } from '../core/json.ts';
import { type KubeClient, resourceVersionOf } from '../kube/client.ts';
import { branchOf, gitRepositories, kustomizations, textAt } from './flux-kinds.ts';
import { commitIds } from './folder-applier.ts';

export interface FluxName {
  readonly namespace: string;
  readonly name: string;
}

export interface GitSource extends FluxName {
  readonly uid: string;
  readonly url: string;
  /** Undefined when it follows a tag, a range of versions or one commit. */
  readonly branch: string | undefined;
  readonly suspended: boolean;
  readonly artifact: { readonly url: string; readonly revision: string; readonly commit: string } | undefined;
  /** Its Ready condition, for people. */
  readonly ready: string;
  /** The annotation `configbutler.ai/door: open`. */
  readonly doorOpen: boolean;
}

export interface Applying extends FluxName {
  readonly uid: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly resourceVersion: string;
}

export type Read<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'unknown'; readonly message: string };

export const doorAnnotation = 'configbutler.ai/door';
const requestedAt = 'reconcile.fluxcd.io/requestedAt';
const deadlineMs = 5_000;

export async function readSource(client: KubeClient, name: FluxName): Promise<Read<GitSource>> {
  const read = await client.get({ ...gitRepositories, ...name }, { deadlineMs });
  if (read.kind === 'not-found') return { kind: 'not-found' };
  if (read.kind !== 'ok') return { kind: 'unknown', message: read.message };
  return { kind: 'ok', value: sourceOf(name, read.object) };
}

/** Whether GitRepositories can be listed; a cluster without Flux has none. */
export async function probeSources(client: KubeClient): Promise<Read<number>> {
  const listed = await client.listAll(
    { ...gitRepositories, namespace: '' },
    { metadataOnly: true, deadlineMs },
  );
  if (listed.kind === 'ok') return { kind: 'ok', value: listed.items.length };
  return listed.kind === 'not-found' ? { kind: 'not-found' } : { kind: 'unknown', message: listed.message };
}

/** The Kustomizations of a source that may apply; suspended ones do not. */
export async function readApplying(client: KubeClient, source: FluxName): Promise<Read<Applying[]>> {
  const listed = await client.listAll({ ...kustomizations, namespace: '' }, { deadlineMs });
  if (listed.kind !== 'ok') return { kind: 'unknown', message: listed.message };
  const applying = listed.items.filter(
    (item) => appliesSource(item, source) && valueAt(item, ['spec', 'suspend']) !== true,
  );
  return { kind: 'ok', value: applying.map(applyingOf) };
}

/** GitRepositories whose artifact some Kustomization could not get; Flux tries that again at its retry interval only. */
export async function readFailedFetches(client: KubeClient): Promise<Read<FluxName[]>> {
  const listed = await client.listAll({ ...kustomizations, namespace: '' }, { deadlineMs });
  if (listed.kind !== 'ok') return { kind: 'unknown', message: listed.message };
  const failed = listed.items.filter((item) => {
    const ready = readyOf(item);
    return (
      ready?.status === 'False' &&
      ready.message.startsWith('failed to download archive') &&
      textAt(item, 'spec', 'sourceRef', 'kind') === 'GitRepository' &&
      valueAt(item, ['spec', 'suspend']) !== true
    );
  });
  const names = failed.map((item) => ({
    namespace: textAt(item, 'spec', 'sourceRef', 'namespace') ?? textAt(item, 'metadata', 'namespace') ?? '',
    name: textAt(item, 'spec', 'sourceRef', 'name') ?? '',
  }));
  return { kind: 'ok', value: names };
}

export async function readKustomizationState(client: KubeClient, name: FluxName): Promise<Read<Applying>> {
  const read = await client.get({ ...kustomizations, ...name }, { deadlineMs });
  if (read.kind === 'not-found') return { kind: 'not-found' };
  if (read.kind !== 'ok') return { kind: 'unknown', message: read.message };
  return { kind: 'ok', value: applyingOf(read.object) };
}

/** Asks Flux to reconcile an object now. Returns what went wrong. */
export async function stamp(
  client: KubeClient,
  kind: 'GitRepository' | 'Kustomization',
  { namespace, name }: FluxName,
  at: Date,
): Promise<string | undefined> {
  const resource = kind === 'GitRepository' ? gitRepositories : kustomizations;
  const body = { metadata: { annotations: { [requestedAt]: at.toISOString() } } };
  const patched = await client.patch(
    { ...resource, namespace, name },
    { type: 'merge', body },
    { deadlineMs },
  );
  return patched.kind === 'ok' ? undefined : patched.message;
}

function sourceOf(name: FluxName, object: JsonObject): GitSource {
  const url = textAt(object, 'status', 'artifact', 'url');
  const revision = textAt(object, 'status', 'artifact', 'revision') ?? '';
  const [commit] = commitIds([revision]);
  const annotations = valueAt(object, ['metadata', 'annotations']);
  return {
    namespace: name.namespace,
    name: name.name,
    uid: textAt(object, 'metadata', 'uid') ?? '',
    url: textAt(object, 'spec', 'url') ?? '',
    branch: branchOf(object),
    suspended: valueAt(object, ['spec', 'suspend']) === true,
    artifact: url === undefined || commit === undefined ? undefined : { url, revision, commit },
    ready: readyOf(object)?.message ?? 'it has no Ready condition',
    doorOpen: isObject(annotations) && annotations[doorAnnotation] === 'open',
  };
}

function appliesSource(item: JsonObject, source: FluxName): boolean {
  const own = textAt(item, 'metadata', 'namespace');
  return (
    textAt(item, 'spec', 'sourceRef', 'kind') === 'GitRepository' &&
    textAt(item, 'spec', 'sourceRef', 'name') === source.name &&
    (textAt(item, 'spec', 'sourceRef', 'namespace') ?? own) === source.namespace
  );
}

function applyingOf(object: JsonObject): Applying {
  const status = readyOf(object)?.status;
  return {
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    ready: status === 'True' || status === 'False' ? status : 'Unknown',
    resourceVersion: resourceVersionOf(object),
  };
}

function readyOf(object: JsonObject): { status: string; message: string } | undefined {
  const conditions = valueAt(object, ['status', 'conditions']);
  const ready = Array.isArray(conditions)
    ? conditions.find((one) => isObject(one) && one.type === 'Ready')
    : undefined;
  if (!isObject(ready)) return undefined;
  return { status: textAt(ready, 'status') ?? 'Unknown', message: textAt(ready, 'message') ?? '' };
}
