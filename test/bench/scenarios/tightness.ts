/** Lines that an edit of one scalar changes, over the shared corpora: exactly one, or the edit is refused. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diffLines } from 'diff';
import { isObject, type Json, type JsonObject, type Path } from '../../../src/core/json.ts';
import { editDocument, readDocuments } from '../../../src/core/yaml/index.ts';
import type { Figure } from '../measure.ts';

/** Beside the project, where it is not part of it. */
const corpora = join(import.meta.dirname, '../../../../shared/corpora');
const editsPerDocument = 6;

export function tightness(progress: (text: string) => void): Figure[] {
  if (!existsSync(corpora)) {
    progress('skipped: ../shared/corpora is not here');
    return [];
  }
  const lines: number[] = [];
  let refused = 0;
  const loose: string[] = [];
  for (const name of yamlFiles()) {
    const text = readFileSync(join(corpora, name), 'utf8');
    for (const [index, document] of readDocuments(text).entries()) {
      if (document.kind !== 'value' || !isObject(document.value)) continue;
      const places = scalarPaths(document.value, []).filter((path) => path.length > 0);
      for (const path of spreadOver(places, editsPerDocument)) {
        const desired = edited(document.value, path);
        const result = editDocument(text, index, desired, { listKeys: () => undefined });
        if (!result.ok || !result.changed) {
          refused += 1;
          continue;
        }
        const changed = changedLines(text, result.text);
        lines.push(changed);
        if (changed !== 1) loose.push(`${name}: ${path.join('.')}`);
      }
    }
  }
  const total = lines.length + refused;
  progress(`${total} edits over the corpora: ${lines.length} written, ${refused} refused`);
  for (const line of loose.slice(0, 5)) progress(`more than one line: ${line}`);
  const mean = lines.reduce((sum, changed) => sum + changed, 0) / lines.length;
  const ours = { median: mean, p95: Math.max(...lines), runs: lines.length };
  const floor = { median: 1, p95: 1, runs: lines.length };
  const measure = `changed lines, ${lines.length} scalar edits (${refused} refused)`;
  return [
    {
      scenario: 'tightness',
      measure,
      unit: 'lines',
      ours,
      floor,
      ratio: mean,
      target: '= 1x',
      met: loose.length === 0,
    },
  ];
}

function yamlFiles(): string[] {
  return readdirSync(corpora, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .sort();
}

/** Scalars that stand on one line and get a value that needs one. */
function scalarPaths(value: Json, path: Path): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => scalarPaths(item, [...path, at]));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, member]) => scalarPaths(member, [...path, key]));
  return typeof value === 'string' && (value.includes('\n') || value.length > 60) ? [] : [path];
}

/** The same ones each time: figures of two runs are of the same edits. */
function spreadOver(paths: readonly Path[], count: number): Path[] {
  const stride = Math.max(1, Math.floor(paths.length / count));
  return paths.filter((_path, at) => at % stride === 0).slice(0, count);
}

function edited(document: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(document);
  let at: Json = copy;
  for (const step of path.slice(0, -1)) at = stepInto(at, step);
  const last = path.at(-1) ?? '';
  const before = stepInto(at, last);
  const after =
    typeof before === 'number' ? before + 1 : typeof before === 'boolean' ? !before : 'edited-value';
  if (Array.isArray(at) && typeof last === 'number') at[last] = after;
  else if (isObject(at)) at[last] = after;
  return copy;
}

function stepInto(value: Json, step: string | number): Json {
  if (Array.isArray(value) && typeof step === 'number') return value[step] ?? null;
  return isObject(value) ? (value[step] ?? null) : null;
}

/** A replaced line counts once; a text of as many lines as before is compared line by line. */
function changedLines(before: string, after: string): number {
  const [old, now] = [before.split('\n'), after.split('\n')];
  if (old.length === now.length) return old.filter((line, at) => line !== now[at]).length;
  const parts = diffLines(before, after).filter(({ added, removed }) => added || removed);
  return parts.reduce((sum, { count }) => sum + count, 0);
}
