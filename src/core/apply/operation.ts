/**
 * The life of a sync operation of Argo CD, as far as a gate must know it: when it may be asked about, and what becomes of
 * it after the answer (contracts 8).
 */
import type { GateAnswer, PublishedEdit } from '../gate/index.ts';

/** One Git source of an operation, at the commit Argo CD resolved it to. */
export interface SyncSource {
  readonly repoURL: string;
  readonly targetRevision: string;
  /** '' is the whole repository. */
  readonly path: string;
  readonly revision: string;
  /** Its position in `spec.sources`; undefined when there is only one. */
  readonly index: number | undefined;
}

export interface SyncOperation {
  readonly phase: 'Running' | 'Terminating' | 'Succeeded' | 'Failed';
  /** `finishedAt` is set. With phase Running: this attempt failed, and another one follows. */
  readonly attemptEnded: boolean;
  /** Milliseconds since the epoch; names the operation. Argo CD writes whole seconds. */
  readonly startedAt: number;
  /** It would be tried again after a failure. */
  readonly retries: boolean;
  readonly automated: boolean;
  /** It applies files from somebody's disk. */
  readonly manifests: boolean;
  /** It names a source of its own instead of the Application's. */
  readonly overridesSource: boolean;
  /** Undefined until Argo CD has said which commits it applies. */
  readonly sources: readonly SyncSource[] | undefined;
}

/** What a SyncGate's spec wants to be true. */
export interface GateChecks {
  /** NAME or NAMESPACE/NAME. */
  readonly application?: string | undefined;
  readonly revision?: string | undefined;
  readonly path?: string | undefined;
}

export type Standing =
  /** Nothing can be answered yet. */
  | { readonly kind: 'pending'; readonly message: string }
  /** Asking would not help. */
  | { readonly kind: 'closed'; readonly message: string }
  | { readonly kind: 'ask'; readonly sources: readonly SyncSource[] };

/** @param application `namespace/name` of the Application that made the gate */
export function standingOf(
  operation: SyncOperation | undefined,
  application: string,
  checks: GateChecks,
): Standing {
  if (operation === undefined) return { kind: 'pending', message: 'no sync is running' };
  if (operation.phase === 'Terminating') return { kind: 'pending', message: 'the sync is being terminated' };
  if (operation.phase !== 'Running') return { kind: 'pending', message: 'no sync is running' };
  if (operation.attemptEnded)
    return { kind: 'pending', message: 'this attempt has failed; Argo CD tries again' };
  // They are of no commit.
  if (operation.manifests) return { kind: 'closed', message: 'local manifests cannot be checked' };
  if (operation.sources === undefined) {
    return { kind: 'pending', message: 'Argo CD has not said yet which commit it applies' };
  }
  const { application: wanted, path, revision } = checks;
  if (wanted !== undefined && wanted !== application && wanted !== nameIn(application)) {
    return { kind: 'closed', message: `this gate is for Application ${wanted}, and ${application} uses it` };
  }
  const rendered = operation.sources.filter((source) => path === undefined || samePath(source.path, path));
  if (path !== undefined && rendered.length === 0) {
    const used = operation.sources.map((source) => source.path || '.').join(', ');
    return { kind: 'closed', message: `this gate is for the folder ${path}, and the sync applies ${used}` };
  }
  const others = revision === undefined ? [] : rendered.filter((source) => source.revision !== revision);
  const further = others.map((source) => ({ ...source, revision: revision ?? source.revision }));
  return { kind: 'ask', sources: [...operation.sources, ...further] };
}

/** Several sources, one answer: the sync may go on only where every one may. */
export function combined(answers: readonly GateAnswer[]): GateAnswer {
  const closed = answers.find(({ decision }) => decision === 'closed');
  if (closed !== undefined) return closed;
  const covered = answers.filter((answer) => answer.decision !== 'closed' && isCovered(answer));
  const refused = covered.flatMap((answer) => ('refused' in answer ? answer.refused : []));
  const superseded = covered.filter((answer) => answer.decision === 'superseded');
  const [first] = superseded;
  if (first !== undefined) {
    return { ...first, edits: superseded.flatMap(({ edits }) => edits), refused };
  }
  const open = covered.find((answer) => answer.decision === 'open' && answer.covered);
  return open === undefined ? { decision: 'open', covered: false } : { ...open, refused };
}

function isCovered(answer: GateAnswer): boolean {
  return answer.decision !== 'open' || answer.covered;
}

/** What happened to the folder since the commit of a superseded sync. */
export type Since =
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'known';
      /** Somebody else's commit is among them. */
      readonly foreign: boolean;
      /** Milliseconds since the epoch of the oldest of them. */
      readonly oldestAt: number;
    };

export type AfterSuperseded =
  /** Argo CD finds the tip by itself when it looks again. */
  | { readonly kind: 'refresh' }
  /** The same sync is started once more, at the tip. */
  | { readonly kind: 'reissue' }
  /** A person has to ask for it again; `why` says why we do not. */
  | { readonly kind: 'end'; readonly why: string };

/** A commit of ours may be this much older than the sync: whoever clicked had the page open. */
export const clickedBeforeMs = 180_000;

/** Nobody gets more applied than they asked for, so a sync is only started again where nothing but our commits came since. */
export function afterSuperseded(operation: SyncOperation, since: Since): AfterSuperseded {
  if (operation.automated) return { kind: 'refresh' };
  if (operation.manifests) return { kind: 'end', why: 'local manifests cannot be checked' };
  if (operation.overridesSource) return { kind: 'end', why: 'it names a source of its own' };
  if (since.kind === 'unknown') return { kind: 'end', why: 'what came since is not known' };
  if (since.foreign) return { kind: 'end', why: 'somebody else has changed the folder since' };
  // Argo CD cuts its times to seconds, git too.
  if (since.oldestAt < operation.startedAt - clickedBeforeMs) {
    return { kind: 'end', why: 'it asked for a commit that was not the newest' };
  }
  return { kind: 'reissue' };
}

/** Whether the sync that a gate belongs to can apply nothing any more. */
export function hasEnded(now: SyncOperation | undefined, asked: SyncOperation): boolean {
  if (now === undefined || now.startedAt !== asked.startedAt) return true;
  return now.phase === 'Succeeded' || now.phase === 'Failed' || now.attemptEnded;
}

const editsNamed = 3;
const looksAgain = 'Argo CD was asked to look again';
const startsAgain = 'this sync is started again at that commit';

/** Whether a sentence of ours said that the superseded sync goes on without anybody. */
export function promisesMore(message: string): boolean {
  return (
    message.startsWith('superseded: ') && (message.endsWith(looksAgain) || message.endsWith(startsAgain))
  );
}

/** The sentence that Argo CD shows for a superseded sync. */
export function supersededMessage(
  { tip, edits }: Extract<GateAnswer, { decision: 'superseded' }>,
  after: AfterSuperseded,
): string {
  const commit = `commit ${tip.slice(0, 12)}`;
  const named = edits.slice(0, editsNamed).map(describeEdit);
  const more = edits.length > editsNamed ? [`${edits.length - editsNamed} more`] : [];
  const what =
    named.length === 0
      ? `${commit} has changed the folder`
      : `${commit} holds live edits that this sync would undo (${[...named, ...more].join('; ')})`;
  switch (after.kind) {
    case 'refresh':
      return `superseded: ${what}; ${looksAgain}`;
    case 'reissue':
      return `superseded: ${what}; ${startsAgain}`;
    case 'end':
      return `superseded: ${what}; nothing was applied. Sync again to apply it. It is not done for you: ${after.why}`;
  }
}

function describeEdit({ object, fields, author }: PublishedEdit): string {
  const which = fields.length === 0 ? '' : ` ${fields.slice(0, editsNamed).join(', ')}`;
  return `${object}${which}${author === '' ? '' : ` by ${author}`}`;
}

function nameIn(application: string): string {
  return application.slice(application.indexOf('/') + 1);
}

function samePath(one: string, other: string): boolean {
  return clean(one) === clean(other);
}

function clean(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}
