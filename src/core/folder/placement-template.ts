/**
 * The language of path templates: literal text and variables in braces, `{name}`, `{label:key}`, `{namespace|fallback}`.
 */
import { isUnowned } from '../sanitize/index.ts';
import { pathShapeProblem } from './path.ts';

export interface TemplateFacts {
  readonly name: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly resource: string;
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: 'namespaced' | 'cluster';
  readonly sensitiveSuffix: string;
  readonly labels: Readonly<Record<string, string>>;
}

type PlainVariable = Exclude<keyof TemplateFacts, 'labels' | 'namespace'>;

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: PlainVariable | 'groupPath' }
  | { readonly kind: 'namespace'; readonly fallback: string }
  | { readonly kind: 'label'; readonly key: string; readonly fallback: string };

export type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const plainVariables: readonly (PlainVariable | 'groupPath')[] = [
  'name',
  'resource',
  'group',
  'groupPath',
  'version',
  'apiVersion',
  'kind',
  'scope',
  'sensitiveSuffix',
];
const clusterScope = '_cluster';
const unlabeled = '_unlabeled';
const fallbackForm = /^[A-Za-z0-9._-]{0,63}$/;
const maxTemplateLength = 1024;

/** Reads a template. Problems are ends of sentences: `names the unknown variable {x}`. */
export function parseTemplate(template: string): ParsedTemplate {
  if (template.length > maxTemplateLength) {
    return { ok: false, problems: [`is longer than ${maxTemplateLength} characters`] };
  }
  const problems: string[] = [];
  const parts: TemplatePart[] = [];
  let rest = template;
  while (rest !== '') {
    const variable = /^\{([^{}]*)\}/.exec(rest);
    if (variable !== null) {
      const part = parseVariable(variable[1] ?? '');
      if (typeof part === 'string') problems.push(part);
      else parts.push(part);
      rest = rest.slice(variable[0].length);
      continue;
    }
    const text = /^[^{}]+/.exec(rest)?.[0];
    if (text === undefined) return { ok: false, problems: ['has a brace without its partner'] };
    parts.push({ kind: 'text', text });
    rest = rest.slice(text.length);
  }
  if (template.startsWith('/')) problems.push('is not relative');
  if (problems.length === 0) problems.push(...shapeProblems(parts));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, parts };
}

/** The path the template gives, empty segments collapsed. */
export function renderTemplate(parts: readonly TemplatePart[], facts: TemplateFacts): string {
  return collapse(
    parts.map((part) => (part.kind === 'text' ? part.text : encode(valueFor(part, facts)))).join(''),
  );
}

function parseVariable(body: string): TemplatePart | string {
  const bar = body.indexOf('|');
  const variable = bar < 0 ? body : body.slice(0, bar);
  const fallback = bar < 0 ? undefined : body.slice(bar + 1);
  if (fallback !== undefined && (!fallbackForm.test(fallback) || fallback === '.' || fallback === '..')) {
    return `has an unusable fallback in {${body}}`;
  }
  if (variable === 'namespace') return { kind: 'namespace', fallback: fallback ?? clusterScope };
  if (variable.startsWith('label:')) {
    const key = variable.slice('label:'.length);
    if (!/^(?:[a-z0-9.-]+\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(key)) {
      return `names no label in {${body}}`;
    }
    if (isUnowned({}, ['metadata', 'labels', key])) return `names the label ${key}, which never reaches Git`;
    return { kind: 'label', key, fallback: fallback ?? unlabeled };
  }
  const plain = plainVariables.find((one) => one === variable);
  if (plain === undefined) return `names the unknown variable {${variable}}`;
  if (fallback !== undefined) return `gives a fallback to {${variable}}, which always has a value`;
  return { kind: plain };
}

/** Problems that do not depend on the object: tried with harmless values. */
function shapeProblems(parts: readonly TemplatePart[]): string[] {
  const last = parts.at(-1);
  const endsWell =
    last?.kind === 'sensitiveSuffix' ||
    (last?.kind === 'text' && /\.ya?ml$/.test(last.text) && last.text !== '');
  const sample = parts.map((part) => (part.kind === 'text' ? part.text : 'x')).join('');
  const problem = pathShapeProblem(collapse(sample));
  return [
    ...(endsWell ? [] : ['does not end in .yaml, .yml or {sensitiveSuffix}']),
    ...(problem ? [problem] : []),
  ];
}

function valueFor(part: Exclude<TemplatePart, { kind: 'text' }>, facts: TemplateFacts): string {
  switch (part.kind) {
    case 'namespace':
      return facts.namespace === '' ? part.fallback : facts.namespace;
    case 'label': {
      const value = Object.hasOwn(facts.labels, part.key) ? facts.labels[part.key] : undefined;
      return value === undefined || value === '' ? part.fallback : value;
    }
    case 'groupPath':
      return facts.group;
    default:
      return facts[part.kind];
  }
}

function encode(value: string): string {
  return value.replace(/[%/\\]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function collapse(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/');
}
