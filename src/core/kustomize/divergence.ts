/** Texts of a build that look like variables and are not what is live: what something fills in after the build. */
import { isObject, type Json, type JsonObject } from '../json.ts';

export interface Divergence {
  /** `spec.template.spec.containers[app].env[REGION].value`. */
  readonly field: string;
  readonly token: string;
}

const token = /\$\{[^{}]+\}/;

/** In the order of the build; map keys sorted. */
export function divergences(built: JsonObject, live: JsonObject): Divergence[] {
  const found: Divergence[] = [];
  const visit = (value: Json, other: Json | undefined, field: string): void => {
    if (typeof value === 'string') {
      const match = token.exec(value);
      if (match !== null && other !== value) found.push({ field, token: match[0] });
    } else if (Array.isArray(value)) {
      visitList(value, Array.isArray(other) ? other : [], field);
    } else if (isObject(value)) {
      const there = isObject(other) ? other : {};
      for (const key of Object.keys(value).sort())
        visit(value[key] ?? null, there[key], field === '' ? key : `${field}.${key}`);
    }
  };
  const visitList = (list: readonly Json[], others: readonly Json[], field: string): void => {
    const names = namesOf(list);
    const there = namesOf(others);
    const byName = names !== undefined && (there !== undefined || others.length === 0);
    for (const [index, item] of list.entries()) {
      const at = byName ? (there?.indexOf(names[index] ?? '') ?? -1) : index;
      visit(item, others[at], `${field}[${byName ? names[index] : index}]`);
    }
  };
  visit(built, live, '');
  return found;
}

/** The names of the items when every one has its own. */
function namesOf(list: readonly Json[]): readonly string[] | undefined {
  const names = list.map((item) => (isObject(item) && typeof item.name === 'string' ? item.name : ''));
  return names.includes('') || new Set(names).size < names.length ? undefined : names;
}
