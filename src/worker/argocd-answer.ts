/** Writes an answer into the status of a SyncGate: whole, bounded, and only on the very object that was asked about. */
import type { PublishedEdit, RefusedEdit } from '../core/gate/index.ts';
import type { JsonObject } from '../core/json.ts';
import type { SeenGate } from './argocd-gate.ts';

export interface AnswerFacts {
  readonly phase: 'Pending' | 'Open' | 'Superseded' | 'Closed';
  readonly message: string;
  readonly tip?: string;
  readonly edits?: readonly PublishedEdit[];
  readonly refused?: readonly RefusedEdit[];
  readonly degraded?: boolean;
}

const syncGates = { group: 'configbutler.ai', version: 'v1alpha3', resource: 'syncgates' } as const;
const deadlineMs = 5_000;
const listLimit = 20;
const messageLimit = 4_000;
const textLimit = 1_000;

export type Written =
  | { readonly kind: 'written' }
  /** Another object, or none, has this name now. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string };

export async function writeAnswer(
  { client, namespace, name, uid }: Pick<SeenGate, 'client' | 'namespace' | 'name' | 'uid'>,
  { phase, message, tip, edits = [], refused = [], degraded }: AnswerFacts,
  at: Date,
): Promise<Written> {
  const status: JsonObject = {
    phase,
    // Argo CD shows it in a table; what a remote says may have several lines.
    message: message.replace(/\s+/g, ' ').slice(0, messageLimit),
    tip: tip ?? null,
    edits: edits.length === 0 ? null : edits.slice(0, listLimit).map(publishedJson),
    refused: refused.length === 0 ? null : refused.slice(0, listLimit).map(refusedJson),
    degraded: degraded ?? null,
    answeredUID: uid,
    observedAt: `${at.toISOString().slice(0, 19)}Z`,
  };
  // The uid makes the server refuse it on an object that was made since under the same name.
  const body = { metadata: { uid }, status };
  const ref = { ...syncGates, namespace, name };
  const patched = await client.patch(ref, { type: 'merge', body }, { subresource: 'status', deadlineMs });
  if (patched.kind === 'ok') return { kind: 'written' };
  const gone = patched.kind === 'not-found' || patched.kind === 'conflict';
  return gone ? { kind: 'gone' } : { kind: 'failed', message: patched.message };
}

function publishedJson({ target, object, fields, commit, author }: PublishedEdit): JsonObject {
  return { target, object: short(object), fields: shortAll(fields), commit, author: short(author) };
}

function refusedJson({ target, object, fields, reason }: RefusedEdit): JsonObject {
  return { target, object: short(object), fields: shortAll(fields), reason };
}

function shortAll(texts: readonly string[]): string[] {
  return texts.slice(0, listLimit).map(short);
}

function short(text: string): string {
  return text.slice(0, textLimit);
}
