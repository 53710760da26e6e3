/** Setting and removing one place of a value; the rest is shared, the input never changes. */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';

/** The object without what stands at the path. A path that is not there changes nothing. */
export function removeAt(object: JsonObject, path: Path): JsonObject {
  const changed = changeAt(object, path, () => undefined);
  return isObject(changed) ? changed : object;
}

/** The object with a value at the path; missing maps on the way are made, missing list items are not. */
export function setAt(object: JsonObject, path: Path, value: Json): JsonObject {
  const changed = changeAt(object, path, () => value);
  return isObject(changed) ? changed : object;
}

function changeAt(
  value: Json | undefined,
  path: Path,
  change: (value: Json | undefined) => Json | undefined,
): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  if (typeof step === 'number') {
    if (!Array.isArray(value) || step >= value.length) return value;
    const item = changeAt(value[step], rest, change);
    return value.flatMap((other, index) => (index === step ? (item === undefined ? [] : [item]) : [other]));
  }
  const map = isObject(value) ? value : {};
  const inner = changeAt(Object.hasOwn(map, step) ? map[step] : undefined, rest, change);
  if (inner === undefined) return isObject(value) ? withoutKey(map, step) : value;
  return { ...map, [step]: inner };
}

function withoutKey(map: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(map, key)) return map;
  return Object.fromEntries(Object.entries(map).filter(([other]) => other !== key));
}
