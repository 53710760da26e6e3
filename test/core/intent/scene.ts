/** Short ways to state a scene: an object as handled, as it is live now, as Git has it, and who owns what. */
import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { type Intent, type IntentInput, intentOf } from '../../../src/core/intent/index.ts';
import { kindSchema } from '../../../src/core/intent/schema/index.ts';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { sanitize } from '../../../src/core/sanitize/index.ts';

export interface Scene {
  /** YAML or an object; what the API server returns now. */
  live: string | JsonObject;
  /** As last handled; left out at first adoption. */
  handled?: string | JsonObject;
  /** What Git states; left out when it has no document. */
  git?: string | JsonObject;
  candidates?: (string | JsonObject)[];
  /** Manager -> fieldsV1, or with an operation and a subresource. */
  owners?: Record<string, JsonObject | Ownership>;
  mirror?: boolean;
  ignore?: string[];
  autoscaled?: boolean;
}

interface Ownership {
  fields: JsonObject;
  subresource: string;
}

export const flux = 'kustomize-controller';

export function decide(scene: Scene): Intent {
  const live = withOwners(read(scene.live), scene.owners);
  const input: IntentInput = {
    live,
    handled: scene.handled === undefined ? undefined : sanitize(read(scene.handled)),
    document: scene.git === undefined ? undefined : read(scene.git),
    ...(scene.candidates === undefined ? {} : { candidates: scene.candidates.map(read) }),
    applierKnown: scene.mirror !== true,
    schema: kindSchema(String(live.apiVersion), String(live.kind)),
    managers: { appliers: scene.mirror === true ? [] : [flux], ignore: scene.ignore ?? [] },
    autoscaled: scene.autoscaled ?? false,
  };
  return intentOf(deepFreeze(input));
}

/** The document Git holds after the decision. */
export function result(scene: Scene): JsonObject | undefined {
  const intent = decide(scene);
  if (intent.kind === 'none') return scene.git === undefined ? undefined : read(scene.git);
  return intent.desired;
}

/** The changed fields, as people read them, with the values before and after. */
export function edits(scene: Scene): Record<string, [Json | undefined, Json | undefined]> {
  const intent = decide(scene);
  if (intent.kind === 'none') return {};
  assert.ok(intent.kind === 'edit', `expected an edit, got ${intent.kind}`);
  return Object.fromEntries(intent.fields.map((field) => [field.where, [field.before, field.after]]));
}

export function read(source: Json | undefined): JsonObject {
  const value: unknown = typeof source === 'string' ? parse(source) : source;
  assert.ok(isJson(value) && isObject(value));
  return value;
}

/** A ConfigMap; `data` in YAML. */
export function configMap(data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rates, namespace: shop}\ndata: ${data}\n`;
}

/** A Deployment `web`; `spec` (beside selector and template) and the pod spec in YAML. */
export function deployment(
  spec: string,
  podSpec = '{containers: [{name: web, image: "web:1"}]}',
): JsonObject {
  const template = { metadata: { labels: { app: 'web' } }, spec: read(podSpec) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { ...read(spec), selector: { matchLabels: { app: 'web' } }, template },
  };
}

/** A custom resource without a known schema; `spec` in YAML. */
export function widget(spec: string): string {
  return `apiVersion: shop.example.test/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\nspec: ${spec}\n`;
}

function withOwners(live: JsonObject, owners: Scene['owners']): JsonObject {
  if (owners === undefined) return live;
  const managedFields = Object.entries(owners).map(([manager, owned]): JsonObject => {
    const fields = isOwnership(owned) ? owned.fields : owned;
    return {
      manager,
      operation: manager === flux ? 'Apply' : 'Update',
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
      ...(isOwnership(owned) ? { subresource: owned.subresource } : {}),
    };
  });
  const metadata = isObject(live.metadata) ? live.metadata : {};
  return { ...live, metadata: { ...metadata, uid: 'u-1', resourceVersion: '7', managedFields } };
}

function isOwnership(owned: JsonObject | Ownership): owned is Ownership {
  return typeof owned.subresource === 'string' && isJson(owned.fields);
}

function isJson(value: unknown): value is Json {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
