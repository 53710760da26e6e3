/**
 * Carries decisions out on file buffers: edits, then removals, then new documents. Every file is proved before it counts;
 * a file that does not prove is left as it was and its objects are refused, the rest of the batch goes on.
 */
import {
  batchScope,
  bootstrapFiles,
  compareText,
  joinPath,
  parsedFile,
  sopsConfig,
} from '../folder/index.ts';
import { describeObject, type ObjectId } from '../identity.ts';
import { encodeFile, type ReadDocument } from '../yaml/index.ts';
import {
  addDocument,
  bufferOf,
  dropDocument,
  type FileBuffer,
  isChanged,
  newBuffer,
  proveBuffer,
  setDocument,
} from './buffer.ts';
import { type Context, type Decision, refused } from './decision.ts';
import type { EditedField, PlannedEdit } from './types.ts';
import { notAlone, type WrittenSealed, writeSealed } from './write-sealed.ts';

const sealsAtOnce = 4;
/** The index judges larger files by rules of its own. */
const maxKeptBytes = 1024 * 1024;

type Change = Extract<Decision, { kind: 'edit' | 'create' | 'remove' }>;

interface Result {
  /** In path order. */
  readonly edits: PlannedEdit[];
  /** The decisions as they came out, in the same order. */
  readonly settled: Decision[];
}

export async function carryOut(context: Context, decisions: readonly Decision[]): Promise<Result> {
  const checked = withoutTwins(context, decisions);
  const settled = new Map<Decision, Decision>();
  const edits: PlannedEdit[] = [];
  const files = byPath(checked);
  for (const [path, changes] of files) {
    const pause = context.options.pause?.();
    if (pause !== undefined) await pause;
    const { edit, outcomes } = await writeFile(context, path, changes);
    for (const [decision, outcome] of outcomes) settled.set(decision, outcome);
    if (edit === undefined) continue;
    edits.push(edit);
    if (edit.content !== undefined) context.options.drafted?.(edit.content);
  }
  let isForRecipients = false;
  for (const [decision, sealed] of await sealAll(context, checked, files)) {
    if (sealed.outcome !== undefined) settled.set(decision, sealed.outcome);
    if (sealed.edit !== undefined) edits.push(sealed.edit);
    isForRecipients ||= sealed.isForRecipients === true;
  }
  if (edits.length > 0) edits.push(...bootstrap(context, edits, isForRecipients));
  edits.sort((a, b) => compareText(a.path, b.path));
  return { edits, settled: checked.map((decision) => settled.get(decision) ?? decision) };
}

/** Sealing waits for a program each time, so several go on at once. In the order of the decisions. */
async function sealAll(
  context: Context,
  decisions: readonly Decision[],
  taken: ReadonlyMap<string, unknown>,
): Promise<(readonly [Decision, WrittenSealed])[]> {
  const seals = decisions.filter((one) => one.kind === 'seal');
  const written: (readonly [Decision, WrittenSealed])[] = [];
  const waiting = seals.entries();
  const work = async () => {
    for (const [position, seal] of waiting) {
      written[position] = [seal, await writeSealed(context, seal, taken.has(seal.path))];
    }
  };
  await Promise.all(Array.from({ length: Math.min(sealsAtOnce, seals.length) }, work));
  return written;
}

/** New paths of one batch must not be twins of each other either; the first one in identity order is kept. */
function withoutTwins({ index }: Context, decisions: readonly Decision[]): Decision[] {
  if (!decisions.some(isNew)) return [...decisions];
  const scope = batchScope(index.scope());
  const sealed = new Set<string>();
  return decisions.map((decision) => {
    if (!isNew(decision)) return decision;
    if (decision.kind === 'seal' && sealed.has(decision.path))
      return notAlone(decision.object, decision.path);
    if (decision.kind === 'seal') sealed.add(decision.path);
    const check = scope.claim(decision.path);
    if (check.ok) return decision;
    const text = `${describeObject(decision.object)} has no usable path: ${check.message}`;
    return refused(decision.object, check.reason, text, decision.path);
  });
}

type NewDocument = Extract<Decision, { kind: 'create' | 'seal' }>;

function isNew(decision: Decision): decision is NewDocument {
  return decision.kind === 'create' || (decision.kind === 'seal' && decision.document === undefined);
}

function byPath(decisions: readonly Decision[]): Map<string, Change[]> {
  const files = new Map<string, Change[]>();
  for (const decision of decisions) {
    if (decision.kind !== 'edit' && decision.kind !== 'create' && decision.kind !== 'remove') continue;
    const path = decision.kind === 'create' ? decision.path : decision.document.path;
    const known = files.get(path);
    if (known === undefined) files.set(path, [decision]);
    else known.push(decision);
  }
  return files;
}

interface Written {
  readonly edit?: PlannedEdit;
  readonly outcomes: ReadonlyMap<Decision, Decision>;
}

async function writeFile(context: Context, path: string, changes: readonly Change[]): Promise<Written> {
  const { index, reader } = context;
  const file = index.files.get(path);
  const buffer =
    file === undefined
      ? newBuffer(path)
      : bufferOf(path, await reader.text(path), await reader.documents(path));
  const outcomes = new Map<Decision, Decision>();
  const done: Change[] = [];
  for (const change of inOrder(changes)) {
    const outcome = apply(buffer, change);
    if (outcome === undefined) done.push(change);
    else outcomes.set(change, outcome);
  }
  const proof = proveBuffer(buffer);
  if (!proof.ok) {
    for (const change of done) {
      const text = `${describeObject(change.object)} was not written: ${path} ${proof.problem}`;
      outcomes.set(change, refused(change.object, 'VerificationFailed', text, path));
    }
    return { outcomes };
  }
  if (!isChanged(buffer)) return { outcomes };
  const mode = file?.entry.mode === '100755' ? '100755' : '100644';
  return { edit: planned(buffer, mode, done, proof.documents), outcomes };
}

function inOrder(changes: readonly Change[]): Change[] {
  const rank = { edit: 0, remove: 1, create: 2 };
  return changes.toSorted((a, b) => rank[a.kind] - rank[b.kind]);
}

/** Undefined when the change is in the buffer now; else what came of it instead. */
function apply(buffer: FileBuffer, change: Change): Decision | undefined {
  const { object } = change;
  if (change.kind === 'remove') {
    dropDocument(buffer, change.document);
    return undefined;
  }
  const result =
    change.kind === 'create'
      ? addDocument(buffer, change.desired)
      : setDocument(buffer, change.document, change.desired, change.schema);
  if (!result.ok) {
    const text = `${describeObject(object)} cannot be written to ${buffer.path}: ${result.message}`;
    return refused(object, result.reason, text, buffer.path);
  }
  return result.changed ? undefined : { kind: 'unchanged', object, path: buffer.path };
}

function planned(
  buffer: FileBuffer,
  mode: PlannedEdit['mode'],
  changes: readonly Change[],
  documents: readonly ReadDocument[],
): PlannedEdit {
  const fieldsOf = (which: 'fields' | 'overwritten'): EditedField[] =>
    changes.flatMap((change) =>
      change.kind === 'remove' ? [] : change[which].map((field) => ({ object: change.object, field })),
    );
  return {
    path: buffer.path,
    action: buffer.before === undefined ? 'create' : buffer.text === undefined ? 'delete' : 'edit',
    mode,
    ...(buffer.text === undefined ? {} : written(encodeFile(buffer.text), documents)),
    objects: changes.map(({ object }): ObjectId => object),
    fields: fieldsOf('fields'),
    overwritten: fieldsOf('overwritten'),
  };
}

function written(
  content: Uint8Array,
  documents: readonly ReadDocument[],
): Pick<PlannedEdit, 'content' | 'parsed'> {
  return content.length > maxKeptBytes ? { content } : { content, parsed: parsedFile(documents) };
}

/** Only for a folder that the branch does not have yet, and never over a path that is planned. */
function bootstrap(
  { index, options }: Context,
  edits: readonly PlannedEdit[],
  isForRecipients: boolean,
): PlannedEdit[] {
  if (!options.bootstrap || !index.isEmpty) return [];
  const rules =
    isForRecipients && options.sealer !== undefined ? [sopsConfig(options.sealer.recipients)] : [];
  return [...bootstrapFiles(), ...rules]
    .map(({ path, text }) => ({ path: joinPath(options.folder, path), text }))
    .filter(({ path }) => edits.every((edit) => edit.path !== path))
    .map(({ path, text }) => ({
      path,
      action: 'create' as const,
      mode: '100644' as const,
      content: encodeFile(text),
      objects: [],
      fields: [],
      overwritten: [],
    }));
}
