/** What `check` finds in the text of one file: our kinds are judged, foreign ones are named and left alone. */
import { apiGroup } from '../api/group.ts';
import { kindNamed } from '../api/kinds.ts';
import { oldKind, oldVersion, successorOf } from '../api/old-spellings.ts';
import { fieldText, type Violation, violationsOf } from '../api/validate.ts';
import { validatePlacement } from '../core/folder/index.ts';
import { parseApiVersion } from '../core/identity.ts';
import { isObject, type Json, type JsonObject, type Path } from '../core/json.ts';
import { validateMessageTemplates } from '../core/template/message.ts';
import { lineNumber } from '../core/yaml/lines.ts';
import type { Node } from '../core/yaml/nodes.ts';
import { contentStart, readTree } from '../core/yaml/read.ts';
import { splitDocuments } from '../core/yaml/split.ts';
import { pairKey, toJson } from '../core/yaml/value.ts';

export interface CheckProblem {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly name: string;
  /** Empty when the whole object is meant. */
  readonly field: string;
  readonly problem: string;
  readonly fix?: string;
}

interface SkippedObject {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly name: string;
}

export interface Checked {
  readonly problems: readonly CheckProblem[];
  readonly skipped: readonly SkippedObject[];
  /** Objects of ours that were judged. */
  readonly checked: number;
}

interface Found {
  readonly problems: CheckProblem[];
  readonly skipped: SkippedObject[];
  checked: number;
}

/** Judges every document of a file. `file` is only used to name the place. */
export function checkText(file: string, text: string): Checked {
  const found: Found = { problems: [], skipped: [], checked: 0 };
  for (const slice of splitDocuments(text)) {
    const read = readTree(text, slice);
    if (read.kind === 'empty') continue;
    if (read.kind === 'unreadable') {
      const line = lineNumber(text, read.at);
      found.problems.push({
        file,
        line,
        kind: '',
        name: '',
        field: '',
        problem: `no readable YAML: ${read.message}`,
      });
      continue;
    }
    const origin = contentStart(text, slice);
    const { root } = read.tree;
    const lineOf = (path: Path) => lineNumber(text, origin + offsetOf(root, path));
    checkDocument(found, file, toJson(root), lineOf);
  }
  return found;
}

function checkDocument(found: Found, file: string, value: Json, lineOf: (path: Path) => number): void {
  if (isObject(value) && value.apiVersion === 'v1' && value.kind === 'List' && Array.isArray(value.items)) {
    for (const [index, item] of value.items.entries()) {
      checkObject(found, file, item, (path) => lineOf(['items', index, ...path]));
    }
    return;
  }
  checkObject(found, file, value, lineOf);
}

function checkObject(found: Found, file: string, value: Json, lineOf: (path: Path) => number): void {
  if (!isObject(value) || typeof value.kind !== 'string' || typeof value.apiVersion !== 'string') {
    const problem = 'is no Kubernetes object: apiVersion and kind are needed';
    found.problems.push({ file, line: lineOf([]), kind: '', name: '', field: '', problem });
    return;
  }
  const { apiVersion, kind } = value;
  const name = nameOf(value);
  const { group } = parseApiVersion(apiVersion);
  if (group !== apiGroup && !group.endsWith(`.${apiGroup}`)) {
    found.skipped.push({ file, line: lineOf([]), kind, name });
    return;
  }
  found.checked += 1;
  const problems = violationsOfOurs(kind, apiVersion, value).map(({ path, problem, fix }) => {
    const place = { file, line: lineOf(path), kind, name, field: fieldText(path) };
    return { ...place, problem, ...(fix === undefined ? {} : { fix }) };
  });
  found.problems.push(...problems.sort((a, b) => a.line - b.line));
}

function violationsOfOurs(kind: string, apiVersion: string, object: JsonObject): Violation[] {
  const old = oldKind(kind);
  const successor = successorOf(kind) ?? kind;
  const definition = kindNamed(successor);
  const aboutKind: Violation[] = old === undefined ? [] : [{ path: ['kind'], ...old }];
  if (definition === undefined) {
    return old === undefined
      ? [{ path: ['kind'], problem: `there is no kind ${kind} in ${apiGroup}` }]
      : aboutKind;
  }
  const version = oldVersion(apiVersion);
  const aboutVersion: Violation[] = version === undefined ? [] : [{ path: ['apiVersion'], ...version }];
  // Judged as what it should say, so that one run tells everything.
  const current = { ...object, apiVersion: definition.schema.shape.apiVersion.value, kind: successor };
  return [
    ...aboutKind,
    ...aboutVersion,
    ...violationsOf(definition, current),
    ...templateViolations(current),
  ];
}

/** What the API server cannot judge and the sidecar would refuse with InvalidConfig. */
function templateViolations({ kind, spec }: JsonObject): Violation[] {
  if (kind !== 'GitTarget' || !isObject(spec)) return [];
  return [...placementViolations(spec.placement), ...messageViolations(spec.commit)];
}

function placementViolations(placement: Json | undefined): Violation[] {
  if (!isObject(placement)) return [];
  const byType = isObject(placement.byType) ? textMembers(placement.byType) : undefined;
  const fallback = typeof placement.default === 'string' ? placement.default : undefined;
  const problems = validatePlacement({
    ...(byType === undefined ? {} : { byType }),
    ...(fallback === undefined ? {} : { default: fallback }),
  });
  return problems.map((problem) => {
    const type = Object.keys(byType ?? {}).find((key) => problem.includes(JSON.stringify(key)));
    const inner = type === undefined ? (fallback === undefined ? [] : ['default']) : ['byType', type];
    return { path: ['spec', 'placement', ...inner], problem };
  });
}

function messageViolations(commit: Json | undefined): Violation[] {
  const message = isObject(commit) && isObject(commit.message) ? commit.message : undefined;
  if (message === undefined) return [];
  return (['liveTemplate', 'reconcileTemplate'] as const).flatMap((field) => {
    const template = message[field];
    if (typeof template !== 'string' || template === '') return [];
    return validateMessageTemplates({ [field]: template }).map((problem) => ({
      path: ['spec', 'commit', 'message', field],
      problem: problem.replace(`commit.message.${field}: `, ''),
    }));
  });
}

function textMembers(map: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : [])),
  );
}

function nameOf({ metadata }: JsonObject): string {
  const { name, namespace } = isObject(metadata) ? metadata : {};
  if (typeof name !== 'string') return '';
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${name}` : name;
}

/** Where a field stands; a field that is missing is looked for as far as the text goes. */
function offsetOf(root: Node, path: Path): number {
  let node = root;
  let at = root.start;
  for (const step of path) {
    while (node.kind === 'alias') node = node.target;
    if (node.kind === 'list') {
      const item = typeof step === 'number' ? node.items[step] : undefined;
      if (item === undefined) return at;
      at = item.start;
      node = item.value;
    } else if (node.kind === 'map') {
      const pair = node.pairs.find((candidate) => pairKey(candidate) === step);
      if (pair === undefined) return at;
      at = pair.start;
      node = pair.value;
    } else return at;
  }
  return at;
}
