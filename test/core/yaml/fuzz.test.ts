/**
 * Random edits over real and hand-written documents. FUZZ is the number of edits (20,000), FUZZ_SEED chooses them.
 * Every edit must read back as wanted, keep all other bytes, touch no more lines than it needs, and be final.
 */
import assert from 'node:assert/strict';
import { diffArrays } from 'diff';
import { isNode, parseDocument, visit } from 'yaml';
import { equalJson, isObject, type Json, type JsonObject, printJson } from '../../../src/core/json.ts';
import { editDocument, readDocuments } from '../../../src/core/yaml/index.ts';
import { lineBudget } from './fuzz/budget.ts';
import { corporaFiles, type Source, styleDocuments, variants } from './fuzz/documents.ts';
import { mutate, mutateScalar } from './fuzz/mutate.ts';
import { type Random, seededRandom } from './fuzz/random.ts';

interface Subject {
  name: string;
  file: string;
  index: number;
  value: JsonObject;
  text: string;
  /** The `yaml` library's nodes of the document, for positions. */
  contents: unknown;
  /** Aliases that no longer agree with their anchor are written out, away from the edit. */
  hasAliases: boolean;
}

const total = Number(process.env.FUZZ ?? 20_000);
const seed = Number(process.env.FUZZ_SEED ?? 1);
const options = { listKeys: () => undefined };

/** Every editable map document of the files, in each variant. */
function subjectsOf(files: readonly Source[]): Subject[] {
  return files.flatMap((file) =>
    Object.entries(variants).flatMap(([name, vary]) => documentsOf(file.name, name, vary(file.text))),
  );
}

function documentsOf(fileName: string, variant: string, file: string): Subject[] {
  return readDocuments(file).flatMap((document, index) => {
    if (document.kind !== 'value' || document.notEditable !== undefined || !isObject(document.value))
      return [];
    const text = document.text.replace(/^\uFEFF/, '');
    const parsed = parseDocument(text, { schema: 'failsafe', logLevel: 'silent', uniqueKeys: false });
    let hasAliases = false;
    visit(parsed, {
      Alias: () => {
        hasAliases = true;
      },
    });
    return [
      {
        name: `${fileName} #${index} (${variant})`,
        file,
        index,
        value: document.value,
        text,
        contents: parsed.contents,
        hasAliases,
      },
    ];
  });
}

interface Outcome {
  refused: string[];
  failed: string[];
  unchanged: number;
  milliseconds: number;
}

function run(subjects: readonly Subject[], edits: number, random: Random): Outcome {
  const outcome: Outcome = { refused: [], failed: [], unchanged: 0, milliseconds: 0 };
  for (let count = 0; count < edits; count += 1) {
    const subject = subjects[count % subjects.length];
    assert.ok(subject !== undefined);
    const desired = structuredClone(subject.value);
    const path = random.chance(0.4) ? mutateScalar(desired, random) : undefined;
    const names = path === undefined ? mutate(desired, random) : ['set scalar'];
    const story = `${subject.name}, ${names.join(' + ')}, edit ${count}`;
    const started = performance.now();
    const result = editDocument(subject.file, subject.index, desired, options);
    outcome.milliseconds += performance.now() - started;
    if (!result.ok) {
      outcome.refused.push(`${story}: ${result.reason} ${result.message}`);
      continue;
    }
    if (!result.changed) outcome.unchanged += 1;
    try {
      check(subject, result.text, desired, path, story);
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      outcome.failed.push(error.message);
    }
  }
  return outcome;
}

function check(
  subject: Subject,
  text: string,
  desired: JsonObject,
  path: (string | number)[] | undefined,
  story: string,
): void {
  checkValues(subject, text, desired, story);
  checkLines(subject, text, desired, path, story);
  const again = editDocument(text, subject.index, desired, options);
  assert.deepEqual(again, { ok: true, text, changed: false }, `a second pass changes: ${story}`);
}

function checkValues(subject: Subject, text: string, desired: JsonObject, story: string): void {
  const before = readDocuments(subject.file);
  const after = readDocuments(text);
  assert.equal(after.length, before.length, `number of documents: ${story}`);
  for (const [index, document] of after.entries()) {
    if (index === subject.index) {
      assert.ok(document.kind === 'value', `the document is ${document.kind}: ${story}`);
      const shown = (): string => `${printJson(document.value)}\nwanted ${printJson(desired)}\n${text}`;
      assert.ok(meansTheSame(document.value, desired), `wrong value, ${story}: ${shown()}`);
      continue;
    }
    const own = before[index];
    const bytes = (file: string, { start, end }: { start: number; end: number }): string =>
      file.slice(start, end);
    assert.equal(
      bytes(text, document.slice),
      own && bytes(subject.file, own.slice),
      `another document changed: ${story}`,
    );
  }
}

/** Equal, where a word such as `yes` that was not touched may be the string it is to kustomize. */
function meansTheSame(read: Json, desired: Json): boolean {
  if (Array.isArray(read) && Array.isArray(desired))
    return (
      read.length === desired.length && read.every((item, at) => meansTheSame(item, desired[at] ?? null))
    );
  if (isObject(read) && isObject(desired)) {
    const keys = Object.keys(read);
    return (
      keys.length === Object.keys(desired).length &&
      keys.every(
        (key) => Object.hasOwn(desired, key) && meansTheSame(read[key] ?? null, desired[key] ?? null),
      )
    );
  }
  if (read === true && typeof desired === 'string') return /^(?:y|yes|on)$/i.test(desired);
  if (read === false && typeof desired === 'string') return /^(?:n|no|off)$/i.test(desired);
  return equalJson(read, desired);
}

/** A scalar's edit leaves every line but the scalar's own; any edit stays within its budget. */
function checkLines(
  subject: Subject,
  text: string,
  desired: JsonObject,
  path: (string | number)[] | undefined,
  story: string,
): void {
  if (subject.hasAliases) return;
  const own = readDocuments(text)[subject.index];
  assert.ok(own?.kind === 'value');
  const after = own.text.replace(/^\uFEFF/, '');
  if (path !== undefined) checkScalarLines(subject, after, path, story);
  const bare = /(?<!\r)\n/;
  if (!bare.test(subject.text) && subject.text.includes('\n'))
    assert.ok(!bare.test(after), `a line lost its carriage return: ${story}`);
  const [old, now] = [subject.text.split(/\r?\n/), after.split(/\r?\n/)];
  let changed = 0;
  for (const part of diffArrays(old, now)) if (part.added || part.removed) changed += part.value.length;
  // A block of text that the end of the file cuts off has its header say so once it no longer ends the file.
  const cut = !subject.text.endsWith('\n') && /[|>]/.test(subject.text) ? 2 : 0;
  const budget = lineBudget(subject.text, subject.contents, subject.value, desired) + cut;
  assert.ok(changed <= budget, `${changed} lines changed, ${budget} needed, ${story}:\n${diffOf(old, now)}`);
}

function checkScalarLines(subject: Subject, after: string, path: (string | number)[], story: string): void {
  const node = nodeAt(subject.contents, path);
  if (node === undefined) return;
  const [start, end] = node;
  let lineStart = subject.text.lastIndexOf('\n', start - 1) + 1;
  // A value below its key may come to the key's line.
  if (lineStart > 0 && subject.text.slice(lineStart, start).trim() === '')
    lineStart = subject.text.lastIndexOf('\n', lineStart - 2) + 1;
  const before = subject.text.slice(0, lineStart);
  // A block of text ends after its own end of line; anything else with its line.
  const stop = subject.text[end - 1] === '\n' ? end : subject.text.indexOf('\n', end);
  const rest = stop < 0 ? '' : subject.text.slice(stop).replace(/^\r?\n/, '');
  const shown = diffOf(subject.text.split('\n'), after.split('\n'));
  const comment = /[ \t]+#.*/.exec(subject.text.slice(end, stop < 0 ? undefined : stop))?.[0].trim() ?? '';
  const line = after.slice(before.length, after.length - rest.length);
  assert.ok(line.includes(comment), `the comment on the line is lost, ${story}:\n${shown}`);
  assert.ok(after.startsWith(before), `a line above changed, ${story}:\n${shown}`);
  assert.ok(after.endsWith(rest), `a line below changed, ${story}:\n${shown}`);
}

function nodeAt(contents: unknown, path: (string | number)[]): [number, number] | undefined {
  let at = contents;
  for (const step of path) {
    const items = (at as { items?: unknown[] } | null)?.items ?? [];
    if (typeof step === 'number') at = items[step];
    else
      at = (items as { key?: { value?: unknown }; value?: unknown }[]).find(
        (pair) => pair.key?.value === step,
      )?.value;
  }
  if (!isNode(at) || at.range == null || !('source' in at) || 'type' in at === false) return undefined;
  return [at.range[0], at.range[1]];
}

function diffOf(before: string[], after: string[]): string {
  return diffArrays(before, after)
    .flatMap((part) => part.value.map((line) => `${part.added ? '+' : part.removed ? '-' : ' '}${line}`))
    .filter((line) => !line.startsWith(' '))
    .join('\n');
}

function report(name: string, edits: number, { refused, failed, unchanged, milliseconds }: Outcome): void {
  const each = (milliseconds / edits).toFixed(2);
  console.log(
    `    ${name}: ${edits} edits, ${each} ms each, ${unchanged} without change, ${refused.length} refused, ${failed.length} wrong, FUZZ_SEED=${seed}`,
  );
  assert.equal(failed.length, 0, `${failed.length} edits went wrong:\n${failed.slice(0, 5).join('\n\n')}`);
  assert.ok(refused.length < edits / 1000, `refused too often:\n${refused.slice(0, 20).join('\n')}`);
}

describe('random edits', function () {
  this.timeout(300_000);

  it('hold on hand-written documents in every style', () => {
    const edits = Math.ceil(total / 4);
    report('styles', edits, run(subjectsOf(styleDocuments), edits, seededRandom(seed)));
  });

  it('hold on the shared corpora', function () {
    const files = corporaFiles();
    if (files === undefined) {
      console.log('    skipped: ../shared/corpora is absent');
      this.skip();
    }
    const edits = total - Math.ceil(total / 4);
    report('corpora', edits, run(subjectsOf(files), edits, seededRandom(seed + 1)));
  });
});
