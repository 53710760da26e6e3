/** Values a template works on, and how they print, count as true and compare: as Go's text/template and fmt do. */

export type TemplateValue =
  | string
  | number
  | boolean
  | readonly TemplateValue[]
  | TemplateMap
  | TemplateRecord;

/** A map with text keys; `zero` is what `index` gives for a key that is missing. */
export interface TemplateMap {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, TemplateValue>;
  readonly zero: TemplateValue;
}

/** A thing with named fields, methods that take one text, and perhaps a printed form. */
export interface TemplateRecord {
  readonly kind: 'record';
  readonly fields: Readonly<Record<string, TemplateValue>>;
  readonly methods?: Readonly<Record<string, (argument: string) => TemplateValue>>;
  /** Absent: its fields between braces. */
  readonly text?: string;
}

/** Stops a rendering with a sentence for the author of the template. */
export class TemplateFailure extends Error {}

/** Longest text a value may become, in UTF-16 units. */
export const maxText = 64 * 1024;

export function isList(value: TemplateValue): value is readonly TemplateValue[] {
  return Array.isArray(value);
}

export function textMap(entries: Readonly<Record<string, string>>): TemplateMap {
  return { kind: 'map', entries: new Map(Object.entries(entries)), zero: '' };
}

export function describeValue(value: TemplateValue): string {
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'true or false';
  if (isList(value)) return 'a list';
  return value.kind === 'map' ? 'a map' : 'an entry with fields';
}

/** Empty text, zero, false, and an empty list or map are false; everything else is true. */
export function isTrue(value: TemplateValue): boolean {
  if (typeof value !== 'object') return value !== '' && value !== 0 && value !== false;
  if (isList(value)) return value.length > 0;
  return value.kind === 'record' || value.entries.size > 0;
}

/** Map keys in the order Go visits them: by bytes, which is by code point. */
export function sortedEntries(map: TemplateMap): [string, TemplateValue][] {
  return [...map.entries].sort(([a], [b]) => compareText(a, b));
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()];
  for (;;) {
    const [l, r] = [left.next(), right.next()];
    if (l.done) return r.done ? 0 : -1;
    if (r.done) return 1;
    if (l.value !== r.value) return (l.value.codePointAt(0) ?? 0) - (r.value.codePointAt(0) ?? 0);
  }
}

/** What `{{value}}` prints. */
export function printValue(value: TemplateValue): string {
  return printNested(value, String);
}

/** Prints lists and maps around their scalar members. */
export function printNested(
  value: TemplateValue,
  scalar: (value: string | number | boolean) => string,
): string {
  if (typeof value !== 'object') return bounded(scalar(value));
  if (isList(value)) return `[${joined(value, (item) => printNested(item, scalar))}]`;
  if (value.kind === 'map') {
    return `map[${joined(sortedEntries(value), ([key, member]) => `${scalar(key)}:${printNested(member, scalar)}`)}]`;
  }
  if (value.text === undefined) {
    return `{${joined(Object.values(value.fields), (field) => printNested(field, scalar))}}`;
  }
  return bounded(scalar(value.text));
}

export function bounded(text: string): string {
  if (text.length > maxText) throw new TemplateFailure('a text grows beyond 64 KiB');
  return text;
}

function joined<Item>(items: readonly Item[], print: (item: Item) => string): string {
  let text = '';
  for (const [index, item] of items.entries())
    text = bounded(`${text}${index === 0 ? '' : ' '}${print(item)}`);
  return text;
}
