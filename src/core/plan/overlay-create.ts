/**
 * A new object of a kustomize folder: a document beside the kustomization and its entry in `resources`.
 *
 * Path and content come from the documents' planner, so new objects follow the same rules everywhere; what the kustomization
 * adds by itself is left out of the document.
 */
import { joinPath, placeDocument, relativeTo } from '../folder/index.ts';
import { describeObject, identify, type ObjectId, objectKey } from '../identity.ts';
import { kindSchema } from '../intent/schema/index.ts';
import { isObject, type JsonObject } from '../json.ts';
import { asBuilt, documentFor, homeOf, namespaceOf, restoreObject } from '../kustomize/index.ts';
import { decodeFile, readDocuments } from '../yaml/index.ts';
import type { PlanDocuments } from './overlay.ts';
import {
  type Built,
  isEditedSinceHandled,
  type OverlayContext,
  outcome,
  project,
  refusal,
} from './overlay-decide.ts';
import type { Plan, PlannedEdit, Upsert } from './types.ts';
import { substitutionFor } from './variables.ts';

export interface Created {
  readonly result: Built;
  /** Files that come with it: rules for sealing. */
  readonly others: readonly PlannedEdit[];
}

/** A plan without edits, or the change of the build. */
export async function createInOverlay(
  context: OverlayContext,
  change: Upsert,
  planDocuments: PlanDocuments,
): Promise<Plan | Created> {
  const made = await create(context, change, planDocuments);
  return 'kind' in made ? { result: made, others: [] } : made;
}

async function create(
  context: OverlayContext,
  change: Upsert,
  planDocuments: PlanDocuments,
): Promise<Plan | Created | Built> {
  const { overlay, options, plain, index } = context;
  const object = identify(change.live);
  if (object === undefined) throw new Error('a live object without a name was given to plan');
  const home = homeOf(overlay, declaredPath(context, change));
  if (!home.ok) {
    // Nothing to write is no refusal.
    const dry = await planDocuments(plain, [change], options);
    if (dry.edits.length === 0) return dry;
    if (!isEditedSinceHandled(context, change, object)) return outcome(object, 'unchanged');
    return refusal(object, home.reason, `${describeObject(object)}: ${home.message}`, home.path);
  }
  const folder = relativeTo(`${home.node.folder}/`, index.folder).replace(/\/$/, '');
  const byDefault = { ...options, serializeNamespace: true };
  // Ciphertext cannot be changed afterwards; any other document is, when its layers are known.
  const asIs = options.isSensitive(object) ? change : { ...change, substitution: {} };
  let made: Plan | undefined;
  for (const name of ['{name}{sensitiveSuffix}', `${object.kind.toLowerCase()}-{name}{sensitiveSuffix}`]) {
    const placement = { ...options.placement, default: options.placement.default ?? joinPath(folder, name) };
    made = await planDocuments(plain, [asIs], { ...byDefault, placement });
    const path = editOf(made, object)?.path;
    if (path === undefined || options.placement.default !== undefined || !overlay.files.has(path)) break;
  }
  const edit = made === undefined ? undefined : editOf(made, object);
  if (made === undefined || edit?.content === undefined) return made ?? outcome(object, 'unchanged');
  const expected = documentIn(edit);
  const schema = kindSchema(String(change.live.apiVersion), object.kind, options.crds);
  const listed = overlay.scope.graph.rootsOf(edit.path).length > 0;
  const place = { root: home.root, path: edit.path, listedIn: listed ? undefined : home.node.file, schema };
  const fields = edit.fields.map(({ field }) => field);
  const created = (document: JsonObject | string, wanted: JsonObject | 'anything'): Built => {
    const create = { ...place, document, expected: wanted };
    return project(object, { kind: 'create', key: objectKey(object), create }, edit.path, fields);
  };
  if (expected === undefined) return outcome(object, 'unchanged');
  if (isObject(expected.sops)) {
    const others = made.edits.filter((one) => one !== edit);
    return { result: created(textOf(edit), 'anything'), others };
  }
  const namespace = object.namespace === '' ? undefined : namespaceOf(home);
  if (namespace !== undefined && namespace !== object.namespace) {
    const text = `${describeObject(object)} would come up in the namespace ${namespace} that ${home.node.file} and its users set`;
    return refusal(object, 'RenderRefused', text, home.node.file);
  }
  const document = documentFor(home, expected, object, options.serializeNamespace === true);
  if (document === undefined) {
    const text = `${describeObject(object)} does not have the name prefix or suffix that ${home.node.file} gives`;
    return refusal(object, 'RenderRefused', text, home.node.file);
  }
  const { postBuild } = substitutionFor(options, change);
  const raw = (wanted: JsonObject): JsonObject => {
    const restored = restoreObject(postBuild, schema, { raw: {}, filled: {}, wanted });
    return restored.ok ? restored.value : wanted;
  };
  return created(raw(document), raw(asBuilt(home, expected)));
}

/** The path that the placement names for the object's type; undefined when it names none. */
function declaredPath({ options, index }: OverlayContext, { live }: Upsert): string | undefined {
  const id = identify(live);
  const type = id === undefined ? undefined : options.resourceOf(String(live.apiVersion), id.kind);
  if (id === undefined || type === undefined) return undefined;
  const { path, source } = placeDocument(
    {
      id,
      apiVersion: String(live.apiVersion),
      resource: type.resource,
      namespaced: id.namespace !== '',
      labels: {},
      sensitive: options.isSensitive(id),
    },
    options.placement,
  );
  return source === 'canonical' ? undefined : joinPath(index.folder, path);
}

function editOf({ edits }: Plan, object: ObjectId): PlannedEdit | undefined {
  return edits.find(({ objects }) => objects.some((one) => objectKey(one) === objectKey(object)));
}

function textOf({ content }: PlannedEdit): string {
  const decoded = content === undefined ? undefined : decodeFile(content);
  return decoded?.ok === true ? decoded.text : '';
}

/** The last document of the planned file: a new one is added at the end. */
function documentIn({ content }: PlannedEdit): JsonObject | undefined {
  const decoded = content === undefined ? undefined : decodeFile(content);
  const last = decoded?.ok === true ? readDocuments(decoded.text).at(-1) : undefined;
  return last?.kind === 'value' && isObject(last.value) ? last.value : undefined;
}
