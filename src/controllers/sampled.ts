/** Fields of a status that change all the time and are written at most once a minute. Pure. */
import { equalJson, isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';

export const sampleMs = 60_000;

export interface Sampling<Status> {
  readonly before: Status | undefined;
  readonly after: Status;
  readonly fields: readonly (keyof Status & string)[];
  /** Milliseconds since these fields were last written; undefined when nobody knows. */
  readonly age: number | undefined;
}

export interface Sampled<Status> {
  readonly status: Status;
  /** New values of the fields are in it. */
  readonly fresh: boolean;
  /** They were held back; milliseconds until they may be written. */
  readonly heldForMs: number | undefined;
}

/**
 * Keeps the written values of the fields while their minute is not over. A write that is due anyway takes the new ones along, and a
 * first or a withdrawn value never waits.
 */
export function sample<Status extends object>({
  before,
  after,
  fields,
  age,
}: Sampling<Status>): Sampled<Status> {
  const old = toJson(before ?? {});
  const next = toJson(after);
  const differs = (field: string): boolean => !equalJson(old[field], next[field]);
  const changed = fields.filter(differs);
  if (changed.length === 0) return { status: after, fresh: false, heldForMs: undefined };
  const first = changed.some((field) => old[field] === undefined || next[field] === undefined);
  const anyway = [...new Set([...Object.keys(old), ...Object.keys(next)])].some(
    (field) => !fields.some((sampled) => sampled === field) && differs(field),
  );
  if (first || anyway || age === undefined || age >= sampleMs)
    return { status: after, fresh: true, heldForMs: undefined };
  const kept = Object.fromEntries(fields.map((field) => [field, before?.[field]]));
  return { status: { ...after, ...kept }, fresh: false, heldForMs: sampleMs - age };
}

function toJson(value: object): JsonObject {
  const json: Json = parseJson(JSON.stringify(value));
  return isObject(json) ? json : {};
}
