/**
 * Carries out one sealed document: a new file, single values of one that was opened, or all of one that no key opens. What comes
 * out is proved before it counts: the wanted values, none of them readable, findable, and opened again where a key is at hand.
 */
import { describeObject, type ObjectId } from '../identity.ts';
import { equalJson, isObject, type JsonObject } from '../json.ts';
import {
  Concealed,
  governingConfig,
  type Sealed,
  type Sealer,
  type SealingConfig,
  sealProblem,
  sealScope,
  stepsBetween,
  unread,
} from '../sealed/index.ts';
import { decodeFile, editDocument, encodeFile, printDocument, readDocuments } from '../yaml/index.ts';
import { type Context, type Decision, refused, schemaOf } from './decision.ts';
import type { PlannedEdit } from './types.ts';

type Seal = Extract<Decision, { kind: 'seal' }>;

export interface WrittenSealed {
  readonly edit?: PlannedEdit;
  /** What came of the decision instead. */
  readonly outcome?: Decision;
  /** Sealed for the recipients of the target, since no rule of the repository governs the path. */
  readonly isForRecipients?: boolean;
}

/** @param isShared another change of the batch writes to the same path */
export async function writeSealed(context: Context, seal: Seal, isShared: boolean): Promise<WrittenSealed> {
  const { sealer } = context.options;
  if (sealer === undefined) throw new Error('a sealed document was planned without a sealer');
  if (isShared) return { outcome: notAlone(seal.object, seal.path) };
  return seal.document === undefined
    ? await sealNew(context, sealer, seal)
    : await sealAgain(context, sealer, seal);
}

export function notAlone(object: ObjectId, path: string): Decision {
  const text = `${describeObject(object)} needs a file of its own, and another object is placed at ${path}; let the placement name every object`;
  return refused(object, 'SensitiveAppend', text, path);
}

async function sealNew(context: Context, sealer: Sealer, seal: Seal): Promise<WrittenSealed> {
  const { object, path } = seal;
  const rule = await governingConfig(context.tree, path, sealer.recipients);
  if (rule.kind === 'none') {
    const text = `${describeObject(object)} is sensitive and cannot be encrypted: ${rule.message}`;
    return { outcome: refused(object, 'EncryptionNotConfigured', text, path) };
  }
  const desired = seal.desired.reveal();
  const sealed = await sealText(sealer, path, printDocument(desired), rule.config, desired);
  if (!sealed.ok) return { outcome: refusedSeal(seal, sealed.reason, sealed.message) };
  const problem = await whyWrong(context, sealer, seal, sealed.bytes, undefined);
  if (problem !== undefined) {
    return { outcome: refusedSeal(seal, 'SealingRuleMissing', `the sealed document ${problem}`) };
  }
  return {
    edit: planned(seal, 'create', '100644', sealed.bytes),
    isForRecipients: rule.source === 'recipients',
  };
}

function sealText(
  sealer: Sealer,
  path: string,
  text: string,
  config: SealingConfig,
  desired: JsonObject,
): Promise<Sealed> {
  const scope = sealScope(desired);
  return sealer.seal({
    path,
    text: new Concealed(text),
    config,
    ...(scope === undefined ? {} : { encryptedRegex: scope }),
  });
}

async function sealAgain(context: Context, sealer: Sealer, seal: Seal): Promise<WrittenSealed> {
  const { path, document, desired } = seal;
  if (document === undefined) throw new Error(`${path} holds no document to seal again`);
  const bytes = await context.tree.read(path);
  const before = await context.reader.value(document);
  const steps = seal.opened === undefined ? undefined : stepsBetween(seal.opened.reveal(), desired.reveal());
  const sealed =
    steps === undefined
      ? await sealWhole(context, sealer, seal, before)
      : await sealer.change({ path, bytes, steps: new Concealed(steps) });
  if (!sealed.ok) return { outcome: refusedSeal(seal, sealed.reason, sealed.message) };
  // The program prints the whole file in its own style; where the values alone can be set, the file keeps its own.
  const near = steps === undefined ? undefined : await inPlace(context, seal, before, sealed.bytes);
  const mode = context.index.files.get(path)?.entry.mode === '100755' ? '100755' : '100644';
  for (const candidate of [near, sealed.bytes]) {
    if (candidate === undefined) continue;
    const problem = await whyWrong(context, sealer, seal, candidate, before);
    if (problem === undefined) return { edit: planned(seal, 'edit', mode, candidate) };
    if (candidate === sealed.bytes)
      return { outcome: refusedSeal(seal, 'VerificationFailed', `the sealed document ${problem}`) };
  }
  return {};
}

/** All of it anew, for the recipients and with the fields it has: the text of now with every value in plain. */
async function sealWhole(
  context: Context,
  sealer: Sealer,
  { path, desired, document }: Seal,
  before: JsonObject,
): Promise<Sealed> {
  const known = unread(before);
  if (!known.ok) return { ok: false, reason: 'SealingFailed', message: known.message };
  const wanted = desired.reveal();
  const text = await context.reader.text(path);
  const edited = editDocument(text, document?.index ?? 0, wanted, schemaOf(before, context.options.crds));
  // A sealed comment cannot be read, so it cannot be sealed again.
  const plain = edited.ok ? edited.text.replace(/[ \t]*#ENC\[AES256_GCM,[^\n]*\](?=\r?(?:\n|$))/g, '') : '';
  const [only, ...more] = readDocuments(plain).filter(({ kind }) => kind !== 'empty');
  const isRight = only?.kind === 'value' && more.length === 0 && equalJson(only.value, wanted);
  const config = known.config;
  return sealer.seal({ path, text: new Concealed(isRight ? plain : printDocument(wanted)), config });
}

/** The file as it is with only the changed values set to what the program made of them. */
async function inPlace(
  context: Context,
  { path, document }: Seal,
  before: JsonObject,
  made: Uint8Array,
): Promise<Uint8Array | undefined> {
  const value = documentIn(made);
  if (value === undefined || document === undefined) return undefined;
  const text = await context.reader.text(path);
  const edited = editDocument(text, document.index, value, schemaOf(before, context.options.crds));
  return edited.ok && edited.changed ? encodeFile(edited.text) : undefined;
}

async function whyWrong(
  { options }: Context,
  sealer: Sealer,
  { object, path, desired }: Seal,
  bytes: Uint8Array,
  before: JsonObject | undefined,
): Promise<string | undefined> {
  const sealed = documentIn(bytes);
  if (sealed === undefined) return 'is not one document';
  const problem = sealProblem({
    sealed,
    desired: desired.reveal(),
    sensitive: options.isSensitive(object),
    ...(before === undefined ? {} : { before }),
  });
  if (problem !== undefined) return problem;
  const opened = await sealer.open(path, bytes);
  if (opened.kind === 'failed') return `cannot be opened again (${opened.message})`;
  if (opened.kind === 'unavailable') return undefined;
  return equalJson(opened.document.reveal(), desired.reveal())
    ? undefined
    : 'does not say what it shall when it is opened';
}

function documentIn(bytes: Uint8Array): JsonObject | undefined {
  const decoded = decodeFile(bytes);
  if (!decoded.ok) return undefined;
  const [only, ...more] = readDocuments(decoded.text);
  return only?.kind === 'value' && isObject(only.value) && more.length === 0 ? only.value : undefined;
}

function refusedSeal(
  { object, path }: Seal,
  reason: 'SealingRuleMissing' | 'SealingFailed' | 'VerificationFailed',
  message: string,
): Decision {
  return refused(object, reason, `${describeObject(object)} was not encrypted: ${message}`, path);
}

function planned(
  { object, path, fields, overwritten }: Seal,
  action: 'create' | 'edit',
  mode: PlannedEdit['mode'],
  content: Uint8Array,
): PlannedEdit {
  const named = (names: readonly string[]) => names.map((field) => ({ object, field }));
  return {
    path,
    action,
    mode,
    content,
    objects: [object],
    fields: named(fields),
    overwritten: named(overwritten),
  };
}
