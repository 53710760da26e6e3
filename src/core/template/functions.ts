/** The functions a template may call. `and` and `or` stop early, so render.ts has them. */
import { printf } from './format.ts';
import {
  bounded,
  compareText,
  describeValue,
  isList,
  isTrue,
  printValue,
  TemplateFailure,
  type TemplateValue,
} from './value.ts';

export interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  readonly call: (values: readonly TemplateValue[]) => TemplateValue;
}

const many = Number.POSITIVE_INFINITY;

export const functions: Readonly<Record<string, TemplateFunction>> = {
  eq: { least: 2, most: many, call: ([first = '', ...others]) => others.some((other) => same(first, other)) },
  ne: { least: 2, most: 2, call: ([a = '', b = '']) => !same(a, b) },
  lt: { least: 2, most: 2, call: ([a = '', b = '']) => order(a, b) < 0 },
  le: { least: 2, most: 2, call: ([a = '', b = '']) => order(a, b) <= 0 },
  gt: { least: 2, most: 2, call: ([a = '', b = '']) => order(a, b) > 0 },
  ge: { least: 2, most: 2, call: ([a = '', b = '']) => order(a, b) >= 0 },
  not: { least: 1, most: 1, call: ([value = '']) => !isTrue(value) },
  len: { least: 1, most: 1, call: ([value = '']) => length(value) },
  index: { least: 1, most: many, call: ([value = '', ...keys]) => keys.reduce(member, value) },
  print: { least: 0, most: many, call: print },
  println: { least: 0, most: many, call: (values) => `${spaced(values)}\n` },
  printf: {
    least: 1,
    most: many,
    call: ([format = '', ...values]) => {
      if (typeof format !== 'string') throw new TemplateFailure('printf: the format must be a text');
      return printf(format, values);
    },
  },
};

/** Functions of Go's templates that we leave out, so that the message can say so. */
export const leftOut: ReadonlySet<string> = new Set(['call', 'html', 'js', 'slice', 'urlquery']);

function same(a: TemplateValue, b: TemplateValue): boolean {
  if (typeof a === 'object' || typeof b === 'object') {
    throw new TemplateFailure(`eq and ne cannot compare ${describeValue(typeof a === 'object' ? a : b)}`);
  }
  if (typeof a !== typeof b) {
    throw new TemplateFailure(`eq and ne cannot compare ${describeValue(a)} with ${describeValue(b)}`);
  }
  return a === b;
}

function order(a: TemplateValue, b: TemplateValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  throw new TemplateFailure(`lt, le, gt and ge cannot order ${describeValue(a)} and ${describeValue(b)}`);
}

/** Bytes of a text, as in Go; members of a list or map. */
function length(value: TemplateValue): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).length;
  if (typeof value === 'object') {
    if (isList(value)) return value.length;
    if (value.kind === 'map') return value.entries.size;
  }
  throw new TemplateFailure(`len cannot count ${describeValue(value)}`);
}

function member(value: TemplateValue, key: TemplateValue): TemplateValue {
  if (typeof value === 'object' && !isList(value)) {
    if (value.kind === 'record') throw new TemplateFailure(`index cannot look into ${describeValue(value)}`);
    if (typeof key !== 'string') throw new TemplateFailure('index: a map needs a text');
    return value.entries.get(key) ?? value.zero;
  }
  if (typeof value !== 'object' && typeof value !== 'string') {
    throw new TemplateFailure(`index cannot look into ${describeValue(value)}`);
  }
  if (typeof key !== 'number') throw new TemplateFailure(`index: ${describeValue(value)} needs a number`);
  // A text is its bytes, as in Go.
  const items = typeof value === 'string' ? [...new TextEncoder().encode(value)] : value;
  const item = items[key];
  if (item === undefined)
    throw new TemplateFailure(`index: ${key} is out of range, there are ${items.length}`);
  return item;
}

/** Values one after the other, with a space between two that are no texts. */
function print(values: readonly TemplateValue[]): string {
  let text = '';
  for (const [index, value] of values.entries()) {
    const apart = index > 0 && typeof value !== 'string' && typeof values[index - 1] !== 'string';
    text = bounded(`${text}${apart ? ' ' : ''}${printValue(value)}`);
  }
  return text;
}

function spaced(values: readonly TemplateValue[]): string {
  return bounded(values.map(printValue).join(' '));
}
