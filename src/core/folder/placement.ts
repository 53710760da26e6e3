/**
 * Where the document of a new object goes: a declared path template, else the canonical path.
 *
 * Only for objects that have no document yet. Nothing is inferred from files that happen to lie nearby.
 */
import { type ObjectId, parseApiVersion } from '../identity.ts';
import {
  parseTemplate,
  renderTemplate,
  type TemplateFacts,
  type TemplatePart,
} from './placement-template.ts';

/** `GitTarget.spec.placement`. */
export interface PlacementSpec {
  /** `[group/]version/resource` -> path template. */
  readonly byType?: Readonly<Record<string, string>>;
  readonly default?: string;
  readonly useKustomize?: boolean;
}

export interface PlacementQuestion {
  readonly id: ObjectId;
  readonly apiVersion: string;
  /** Plural, as in the API path. */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly sensitive: boolean;
}

export interface Placed {
  /** Relative to the target's folder. Not checked yet: see `checkPath`. */
  readonly path: string;
  readonly source: 'by_type' | 'default' | 'canonical';
}

const canonical = parseTemplate('{namespace}/{group}/{resource}/{name}{sensitiveSuffix}');
const canonicalParts = canonical.ok ? canonical.parts : [];

/** First rung of the ladder that applies. A template that cannot be read falls through to the next. */
export function placeDocument(question: PlacementQuestion, spec: PlacementSpec): Placed {
  const facts = factsOf(question);
  const type = typeKey(question);
  const declared =
    spec.byType !== undefined && Object.hasOwn(spec.byType, type) ? spec.byType[type] : undefined;
  const byType = fill(declared, facts);
  if (byType !== undefined) return { path: sealed(byType, question.sensitive), source: 'by_type' };
  const byDefault = fill(spec.default, facts);
  if (byDefault !== undefined) return { path: sealed(byDefault, question.sensitive), source: 'default' };
  return { path: renderTemplate(canonicalParts, facts), source: 'canonical' };
}

/**
 * Problems of a placement as sentences; empty when it can be used. For the GitTarget's `Validated` condition, before
 * anything is written.
 */
export function validatePlacement(spec: PlacementSpec): string[] {
  const problems: string[] = [];
  for (const [type, template] of Object.entries(spec.byType ?? {})) {
    if (!isTypeKey(type)) {
      problems.push(`placement.byType key ${JSON.stringify(type)} is not [group/]version/resource`);
    }
    problems.push(...templateProblems(`placement.byType[${JSON.stringify(type)}]`, template));
  }
  if (spec.default !== undefined) problems.push(...templateProblems('placement.default', spec.default));
  if (problems.length > 0) return problems;

  const secrets = spec.byType?.['v1/secrets'];
  if (secrets !== undefined && !namesEveryObject(secrets)) {
    problems.push(
      'placement.byType["v1/secrets"] must hold {name} and {namespace}: every Secret has a file of its own',
    );
  }
  if (secrets === undefined && spec.default !== undefined && !namesEveryObject(spec.default)) {
    problems.push(
      'placement.default puts several objects in one file, so placement.byType["v1/secrets"] is needed: every Secret has a file of its own',
    );
  }
  return problems;
}

function templateProblems(field: string, template: string): string[] {
  const parsed = parseTemplate(template);
  return parsed.ok ? [] : parsed.problems.map((problem) => `${field} ${problem}`);
}

function isTypeKey(key: string): boolean {
  const segments = key.split('/');
  return (
    (segments.length === 2 || segments.length === 3) &&
    segments.every((one) => one !== '' && one.trim() === one)
  );
}

/** True when two different objects of one type can never get the same path. */
function namesEveryObject(template: string): boolean {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return false;
  const has = (variable: TemplatePart['kind']) => parsed.parts.some((part) => part.kind === variable);
  return has('name') && has('namespace');
}

function fill(template: string | undefined, facts: TemplateFacts): string | undefined {
  if (template === undefined) return undefined;
  const parsed = parseTemplate(template);
  return parsed.ok ? renderTemplate(parsed.parts, facts) : undefined;
}

/** A sensitive document always ends in `.sops.yaml` or `.sops.yml`, whatever its template says. */
function sealed(path: string, sensitive: boolean): string {
  if (!sensitive || /\.sops\.ya?ml$/.test(path)) return path;
  return path.replace(/\.(ya?ml)$/, '.sops.$1');
}

function typeKey(question: PlacementQuestion): string {
  return `${question.apiVersion}/${question.resource}`;
}

function factsOf({
  id,
  apiVersion,
  resource,
  namespaced,
  labels,
  sensitive,
}: PlacementQuestion): TemplateFacts {
  return {
    name: id.name,
    namespace: namespaced ? id.namespace : '',
    resource,
    group: id.group,
    version: parseApiVersion(apiVersion).version,
    apiVersion,
    kind: id.kind,
    scope: namespaced ? 'namespaced' : 'cluster',
    sensitiveSuffix: sensitive ? '.sops.yaml' : '.yaml',
    labels,
  };
}
