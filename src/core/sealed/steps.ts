/** From what a sealed document says to what it shall say, value by value, so that everything else keeps its ciphertext. */
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../json.ts';
import type { SealStep } from './sealer.ts';

/** More single steps than this are no edit of one value any more. */
const maxSteps = 128;

/** Undefined when it takes too many steps, or one whose place sops cannot be told. Lists are set as a whole. */
export function stepsBetween(before: JsonObject, after: JsonObject): readonly SealStep[] | undefined {
  const steps: SealStep[] = [];
  collect([], before, after, steps);
  // sops splits a place at brackets.
  const isTellable = ({ path }: SealStep) =>
    path.every((key) => typeof key !== 'string' || !key.includes('['));
  return steps.length <= maxSteps && steps.every(isTellable) ? steps : undefined;
}

function collect(path: Path, before: JsonObject, after: JsonObject, steps: SealStep[]): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) steps.push({ path: [...path, key] });
  }
  for (const [key, value] of Object.entries(after)) {
    const own: Json | undefined = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isObject(own) && isObject(value) && Object.keys(value).length > 0)
      collect([...path, key], own, value, steps);
    else if (!equalJson(own, value)) steps.push({ path: [...path, key], value });
  }
}
