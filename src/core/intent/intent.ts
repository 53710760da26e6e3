/** Decides what of a live object is a person's edit; see `index.ts`. */
import { equalJson, isObject, type JsonObject, type Path, valueAt } from '../json.ts';
import { isTerminating, neverMirrored, sanitize } from '../sanitize/index.ts';
import { changesBetween, type FieldChange, overwrittenOf, traceChanges } from './changes.ts';
import { isReplicas } from './judge.ts';
import { type FieldOwner, fieldOwners, type ManagerRules, type Role, roleOf } from './managers.ts';
import { asLive, mergeValue } from './merge.ts';
import {
  keptByController,
  type Notice,
  ownedByAutoscaler,
  restoredAfterDelete,
  valueOverwritten,
} from './notice.ts';
import { isMissing, type MergeRules, type Policy, type Verdict } from './place.ts';
import { completeDefaults, type Pruning, prune } from './prune.ts';
import type { KindSchema } from './schema/index.ts';
import { isSecret, viewSecret } from './secret.ts';

export interface IntentInput {
  /** As the API server returned it, with managedFields. */
  readonly live: JsonObject;
  /** The sanitized object as last handled; undefined at first adoption and at the snapshot of a mirror. */
  readonly handled: JsonObject | undefined;
  /** What Git states now for this identity, the namespace filled in; undefined when Git has no document. */
  readonly document: JsonObject | undefined;
  /** Without handled state: the documents at the applier's revisions, the last successful one first. */
  readonly candidates?: readonly JsonObject[];
  /** False for a mirror: no applier's fields are told apart, and without handled state live wins as a whole. */
  readonly applierKnown: boolean;
  readonly schema: KindSchema;
  readonly managers: ManagerRules;
  /** A HorizontalPodAutoscaler or ScaledObject, live or in Git, targets the object. */
  readonly autoscaled: boolean;
}

export type Intent =
  /** Nothing of a person changed. */
  | { readonly kind: 'none'; readonly notices: readonly Notice[] }
  /** `desired` is the document with exactly the edits set. */
  | {
      readonly kind: 'edit';
      readonly desired: JsonObject;
      readonly fields: readonly FieldChange[];
      /** The part of `fields` that Git changed as well since the object was handled; live wins. */
      readonly overwritten: readonly FieldChange[];
      readonly notices: readonly Notice[];
    }
  /** Git has no document and never had; `desired` is a new one. */
  | { readonly kind: 'create'; readonly desired: JsonObject; readonly notices: readonly Notice[] }
  /**
   * Git deleted the document. `desired` is undefined when nobody changed the live object since (it is not added again), else
   * the object as a new document: a live edit wins.
   */
  | {
      readonly kind: 'gone-in-git';
      readonly desired: JsonObject | undefined;
      readonly fields: readonly FieldChange[];
      readonly notices: readonly Notice[];
    };

/** What of the live object is an edit, and the document that holds it. Never changes its input. */
export function intentOf(input: IntentInput): Intent {
  const { live, document } = input;
  if (isTerminating(live) || neverMirrored(live) !== undefined) return { kind: 'none', notices: [] };
  const sanitized = asStored(sanitize(live));
  if (input.handled !== undefined && equalJson(input.handled, sanitized)) {
    return document === undefined ? untouched() : { kind: 'none', notices: [] };
  }
  const look = lookAt(input, sanitized);
  return document === undefined ? withoutDocument(input, look) : withDocument(input, document, look);
}

/** A Secret as the server keeps it; hand-made "live" objects may still hold stringData. */
function asStored(object: JsonObject): JsonObject {
  return isSecret(object) ? viewSecret(object).document : object;
}

interface Look {
  readonly sanitized: JsonObject;
  readonly autoscaled: boolean;
  readonly hasPerson: boolean;
  verdict(path: Path): Verdict;
  isControllers(path: Path): boolean;
  /** Whether a person owns the very field. */
  isChosen(path: Path): boolean;
  /** Whether a person wrote the very field, and not along with the list item it stands in. True when nothing is known. */
  isSetLater(path: Path): boolean;
}

function lookAt(input: IntentInput, sanitized: JsonObject): Look {
  const { live, applierKnown, managers } = input;
  const rules = applierKnown ? managers : { ...managers, appliers: [] };
  const owners = fieldOwners(live);
  // An object has few owners, and each is asked about for every field.
  const roles = new Map<FieldOwner, Role>();
  const ownerRole = (owner: FieldOwner): Role => {
    const role = roles.get(owner) ?? roleOf(owner, rules);
    roles.set(owner, role);
    return role;
  };
  const verdict = (path: Path) => verdictOf(owners.of(path), ownerRole);
  // Most objects are no controller's, and then no field has to be looked up.
  const hasController = owners.all.some((owner) => ownerRole(owner) === 'controller');
  const roleIs = (role: string) => (owner: FieldOwner) => ownerRole(owner) === role;
  return {
    sanitized,
    autoscaled: input.autoscaled || isScaledByController(owners.of(['spec', 'replicas']), rules),
    hasPerson: !owners.known || owners.of([]).some(roleIs('person')),
    verdict,
    isControllers: (path) => hasController && verdict(path) === 'controller',
    isChosen: (path) => owners.exactly(path).some(roleIs('person')),
    isSetLater: (path) => {
      const item = path.slice(0, path.findLastIndex((step) => typeof step === 'number') + 1);
      const makers = owners.exactly([...item, 'name']);
      const isLater = (owner: FieldOwner) => roleIs('person')(owner) && !makers.includes(owner);
      return !owners.known || owners.exactly(path).some(isLater);
    },
  };
}

function verdictOf(owners: readonly FieldOwner[], ownerRole: (owner: FieldOwner) => Role): Verdict {
  if (owners.length === 0) return 'nobody';
  const roles = new Set(owners.map(ownerRole));
  if (roles.has('person')) return 'person';
  if (roles.size > 1) return 'automation';
  return roles.has('applier') ? 'applier' : 'controller';
}

/** `kubectl scale` writes through the same subresource as the autoscaler; the manager tells them apart. */
function isScaledByController(owners: readonly FieldOwner[], rules: ManagerRules): boolean {
  const scalers = owners.filter(({ subresource }) => subresource === 'scale');
  return scalers.length > 0 && scalers.every((owner) => roleOf(owner, rules) === 'controller');
}

function withDocument(input: IntentInput, document: JsonObject, look: Look): Intent {
  const view = isSecret(document)
    ? viewSecret(document)
    : { document, restore: (edited: JsonObject) => edited };
  const rules = mergeRules(input, view.document, look);
  const edited = applyEdits(rules, basesOf(input, view.document), look);
  const notices = keptNotices(input, rules, look, view.document);
  if (edited === view.document) return { kind: 'none', notices };
  const desired = view.restore(edited);
  const fields = changesBetween(input.schema, document, desired);
  if (fields.length === 0) return { kind: 'none', notices };
  const overwritten = overwrittenFields(input, view.document, edited, fields);
  return {
    kind: 'edit',
    desired,
    fields,
    overwritten,
    notices: [...notices, ...overwritten.map(valueOverwritten)],
  };
}

/** The document with the edits; the very same document when there are none. */
function applyEdits(rules: MergeRules, bases: readonly (JsonObject | undefined)[], look: Look): JsonObject {
  const { document } = rules;
  const merged = mergeValue(rules, { path: [], document, bases, live: look.sanitized });
  if (!isObject(merged) || merged === document) return document;
  const pruning = pruningOf(rules, look, document);
  const pruned = prune(pruning, merged);
  return equalJson(pruned, document) ? document : completeDefaults(pruning, pruned);
}

function pruningOf(rules: MergeRules, look: Look, before: JsonObject | undefined): Pruning {
  return {
    schema: rules.schema,
    before,
    live: rules.live,
    isChosen: look.isChosen,
    // With a handled state it is known that the value is new.
    isLeftover: (path, value) =>
      before !== undefined &&
      rules.policy !== 'handled' &&
      rules.schema.mayOutlive(path, value) &&
      !look.isSetLater(path),
    isControllers: (path) => look.isControllers(path) || (rules.autoscaled && isReplicas(path)),
  };
}

function mergeRules(input: IntentInput, document: JsonObject, look: Look): MergeRules {
  const candidates = candidatesOf(input, document);
  return {
    policy: policyOf(input),
    schema: input.schema,
    document,
    live: input.live,
    candidates,
    autoscaled: look.autoscaled,
    verdict: look.verdict,
    isControllers: look.isControllers,
  };
}

function policyOf(input: IntentInput): Policy {
  if (input.handled !== undefined) return 'handled';
  return input.applierKnown ? 'candidates' : 'whole';
}

/** Offline there may be no revision to look at; the document itself is then what the applier applied. */
function candidatesOf(input: IntentInput, document: JsonObject | undefined): readonly JsonObject[] {
  const { candidates = [] } = input;
  if (candidates.length > 0) return candidates.map(asStored);
  return document === undefined ? [] : [document];
}

function basesOf(input: IntentInput, document: JsonObject): readonly (JsonObject | undefined)[] {
  switch (policyOf(input)) {
    case 'handled':
      return [input.handled];
    case 'candidates':
      return candidatesOf(input, document);
    case 'whole':
      return [document];
  }
}

/** Of the fields those that Git changed, too. Compared in the form of `data`, because that is what was handled. */
function overwrittenFields(
  input: IntentInput,
  document: JsonObject,
  edited: JsonObject,
  fields: readonly FieldChange[],
): readonly FieldChange[] {
  const base = input.handled ?? input.candidates?.[0];
  if (base === undefined || (input.handled === undefined && !input.applierKnown)) return [];
  const traced = traceChanges(input.schema, document, edited);
  const lost = overwrittenOf(input.schema, traced, document, edited, asStored(base));
  const places = new Set(lost.map(({ path }) => inData(path)));
  return fields.filter(({ path }) => places.has(inData(path)));
}

/** `stringData.password` and `data.password` are one place. */
function inData(path: Path): string {
  return JSON.stringify(path[0] === 'stringData' ? ['data', ...path.slice(1)] : path);
}

function keptNotices(input: IntentInput, rules: MergeRules, look: Look, document: JsonObject): Notice[] {
  const notices: Notice[] = [];
  const replicas: Path = ['spec', 'replicas'];
  const stated = valueAt(document, replicas);
  const live = valueAt(look.sanitized, replicas);
  if (look.autoscaled && !isMissing(stated) && !isMissing(live) && !equalJson(stated, live)) {
    notices.push(ownedByAutoscaler(input.live, replicas));
  }
  return [...notices, ...keptByController(rules, look.sanitized, input.handled)];
}

function withoutDocument(input: IntentInput, look: Look): Intent {
  const { candidates = [], handled } = input;
  const wasInGit = handled !== undefined || (input.applierKnown && candidates.length > 0);
  if (!wasInGit) {
    // Nobody's and only programs' objects are not a person's creation.
    const desired = look.hasPerson ? newDocument(input, look) : undefined;
    return desired === undefined ? { kind: 'none', notices: [] } : { kind: 'create', desired, notices: [] };
  }
  const before = handled ?? candidates[0] ?? {};
  const rules = { ...mergeRules(input, before, look), ...(handled === undefined ? {} : { candidates: [] }) };
  const bases = handled === undefined ? candidatesOf(input, undefined) : [handled];
  const edited = applyEdits(rules, bases, look);
  const fields = edited === before ? [] : changesBetween(input.schema, before, edited);
  const desired = fields.length === 0 ? undefined : newDocument(input, look);
  if (desired === undefined) return untouched();
  return { kind: 'gone-in-git', desired, fields, notices: [restoredAfterDelete(input.live, fields)] };
}

function untouched(): Intent {
  return { kind: 'gone-in-git', desired: undefined, fields: [], notices: [] };
}

/** A document for an object Git has none of, without defaults, allocated fields and what controllers wrote. */
function newDocument(input: IntentInput, look: Look): JsonObject | undefined {
  const { apiVersion, kind, metadata } = look.sanitized;
  if (apiVersion === undefined || kind === undefined || !isObject(metadata)) return undefined;
  const rules = { ...mergeRules(input, {}, look), policy: 'whole' as const };
  const body = asLive(rules, [], look.sanitized);
  const { apiVersion: _version, kind: _kind, metadata: marks = {}, ...rest } = isObject(body) ? body : {};
  const naming = Object.entries(metadata).filter(([key]) => key === 'name' || key === 'namespace');
  const whole = {
    apiVersion,
    kind,
    metadata: { ...Object.fromEntries(naming), ...(isObject(marks) ? marks : {}) },
    ...rest,
  };
  return prune(pruningOf(rules, look, undefined), whole);
}
