/** Strips a live object down to what could be somebody's intent: everything but the deny list of `unowned.ts`. */
import { isObject, type Json, type JsonObject } from '../json.ts';
import { isUnownedAnnotation, isUnownedLabel, isUnownedMetadata, unownedSpecFields } from './unowned.ts';

/**
 * The live object without bookkeeping. Untouched parts are shared with the input, which is never changed.
 *
 * Only the object's own metadata is cleaned: a pod template's annotations are intent, `kubectl rollout restart` writes there.
 */
export function sanitize(live: JsonObject): JsonObject {
  const sanitized: JsonObject = {};
  for (const [key, value] of Object.entries(live)) {
    if (key === 'status') continue;
    if (key === 'metadata' && isObject(value)) sanitized[key] = cleanMetadata(value);
    else if (key === 'spec' && isObject(value)) sanitized[key] = cleanSpec(live, value);
    else sanitized[key] = value;
  }
  return sanitized;
}

/** Whether the object waits for its end; such an object is never written to Git again. */
export function isTerminating(live: JsonObject): boolean {
  return isObject(live.metadata) && typeof live.metadata.deletionTimestamp === 'string';
}

/** The object without one of its labels. */
export function withoutLabel(object: JsonObject, key: string): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata) || !isObject(metadata.labels) || metadata.labels[key] === undefined) return object;
  const { labels, ...rest } = metadata;
  const others = without(labels, (one) => one === key);
  return { ...object, metadata: Object.keys(others).length > 0 ? { ...rest, labels: others } : rest };
}

function cleanMetadata(metadata: JsonObject): JsonObject {
  const clean: JsonObject = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (isUnownedMetadata(key)) continue;
    if (key !== 'labels' && key !== 'annotations') clean[key] = value;
    else if (isObject(value)) {
      const map = without(value, key === 'labels' ? isUnownedLabel : isUnownedAnnotation);
      if (Object.keys(map).length > 0) clean[key] = map;
    }
  }
  return clean;
}

function cleanSpec(live: JsonObject, spec: JsonObject): JsonObject {
  const denied = unownedSpecFields(live);
  if (denied.length === 0) return spec;
  // `None` makes a Service headless, which somebody chose; an address was allocated.
  const headless = live.kind === 'Service' && spec.clusterIP === 'None';
  return without(spec, (key) => denied.includes(key) && !(headless && key === 'clusterIP'));
}

function without(map: JsonObject, drop: (key: string) => boolean): JsonObject {
  const keys = Object.keys(map);
  if (!keys.some(drop)) return map;
  const rest: Record<string, Json> = {};
  for (const key of keys) if (!drop(key)) rest[key] = map[key] ?? null;
  return rest;
}
