/** Label selectors: matched against labels here, or written as a query for the API server. Pure. */
import type { LabelSelector } from '../api/selector.ts';

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => own(labels, key) === value) &&
    matchExpressions.every((requirement) => meets(requirement, own(labels, requirement.key)))
  );
}

/** The `labelSelector` of a query; '' selects every object. Equal selectors give equal text. */
export function selectorQuery(selector: LabelSelector | undefined): string {
  if (selector === undefined) return '';
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(printRequirement),
  ];
  return [...new Set(parts)].sort().join(',');
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

function printRequirement({ key, operator, values = [] }: Requirement): string {
  const list = `(${[...values].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return `${key} in ${list}`;
    case 'NotIn':
      return `${key} notin ${list}`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}

function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
