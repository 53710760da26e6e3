/**
 * What one YAML file says about itself: which records stand in it, and which parts cannot be read as records.
 *
 * Small on purpose: identities and flags, never the documents. Cached by blob id.
 */
import { identify, type ObjectId, parseApiVersion } from '../identity.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { decodeFile, type ReadDocument, readDocuments } from '../yaml/index.ts';

export type FileDocument =
  | {
      readonly kind: 'record';
      readonly apiVersion: string;
      /** As written: the namespace is '' when the document states none. */
      readonly id: ObjectId;
      /** Why the text cannot be edited in place; absent when it can. */
      readonly notEditable?: string;
      /** Holds a top-level `sops` key: ciphertext. */
      readonly encrypted: boolean;
      /** The workload whose size this object sets. */
      readonly scales?: ScaleTarget;
    }
  /** White space and comments. */
  | { readonly kind: 'empty' }
  /** YAML, but not one Kubernetes object. */
  | { readonly kind: 'other'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface ScaleTarget {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

export type ParsedFile =
  | { readonly ok: true; readonly documents: readonly FileDocument[] }
  | { readonly ok: false; readonly reason: 'TooLarge' | 'NotUtf8'; readonly message: string };

export function parseFile(bytes: Uint8Array): ParsedFile {
  const decoded = decodeFile(bytes);
  return decoded.ok ? parsedFile(readDocuments(decoded.text)) : decoded;
}

/** For callers who have read the whole file already. */
export function parsedFile(documents: readonly ReadDocument[]): ParsedFile {
  return { ok: true, documents: documents.map(describe) };
}

function describe(document: ReadDocument): FileDocument {
  if (document.kind === 'empty') return { kind: 'empty' };
  if (document.kind === 'unreadable') {
    return { kind: 'unreadable', reason: `line ${document.line}: ${document.message}` };
  }
  return classify(document.value, document.notEditable);
}

function classify(value: Json, notEditable: string | undefined): FileDocument {
  const found = identify(value);
  if (found === undefined || !isObject(value)) return { kind: 'other', reason: whyNoRecord(value) };
  const id = {
    group: ownText(found.group),
    kind: ownText(found.kind),
    namespace: ownText(found.namespace),
    name: ownText(found.name),
  };
  const scales = scaleTarget(value, id);
  return {
    kind: 'record',
    apiVersion: typeof value.apiVersion === 'string' ? ownText(value.apiVersion) : '',
    id,
    encrypted: isObject(value.sops),
    ...(notEditable === undefined ? {} : { notEditable }),
    ...(scales === undefined ? {} : { scales }),
  };
}

const isAscii = /^[\u0000-\u007f]*$/;

/** The same text with memory of its own: a part of a string keeps the whole string, which here is a whole file. */
function ownText(text: string): string {
  return isAscii.test(text) ? Buffer.from(text, 'latin1').toString('latin1') : text;
}

function whyNoRecord(value: Json): string {
  if (!isObject(value)) return 'not a map';
  if (typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)) {
    return `a ${value.kind} of objects`;
  }
  if (isObject(value.metadata) && typeof value.metadata.generateName === 'string')
    return 'has generateName and no name';
  return 'no Kubernetes object';
}

/** The target of a HorizontalPodAutoscaler or a KEDA ScaledObject; undefined for every other object. */
export function scaleTarget(object: JsonObject, id: ObjectId): ScaleTarget | undefined {
  const isAutoscaler =
    (id.group === 'autoscaling' && id.kind === 'HorizontalPodAutoscaler') ||
    (id.group === 'keda.sh' && id.kind === 'ScaledObject');
  if (!isAutoscaler || !isObject(object.spec)) return undefined;
  const target = object.spec.scaleTargetRef;
  if (!isObject(target) || typeof target.name !== 'string') return undefined;
  // KEDA gives both a default; a HorizontalPodAutoscaler must state them.
  const apiVersion = typeof target.apiVersion === 'string' ? target.apiVersion : 'apps/v1';
  const kind = typeof target.kind === 'string' ? target.kind : 'Deployment';
  return { group: parseApiVersion(apiVersion).group, kind, name: target.name };
}
