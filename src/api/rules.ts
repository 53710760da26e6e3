/**
 * Cross-field rules, stated once: the CEL text the API server runs and the same rule for `check`, with one message.
 *
 * A transition rule (immutability) has no offline twin; crd.ts makes those from the kind's list of immutable fields.
 */
import * as z from 'zod';

export interface Rule<Value> {
  readonly cel: string;
  readonly message: string;
  /** The offline twin of `cel`. It sees the value after defaults. */
  readonly holds: (value: Value) => boolean;
  /** The field to point at, relative to the schema that carries the rule. */
  readonly field?: string;
}

interface CelValidation {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

const celKey = 'x-kubernetes-validations';

export function withRules<Schema extends z.ZodType>(
  schema: Schema,
  rules: readonly Rule<z.output<Schema>>[],
): Schema {
  const checked = schema.check((context) => {
    for (const rule of rules) {
      if (rule.holds(context.value)) continue;
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: rule.message,
        path: rule.field === undefined ? [] : [rule.field],
      });
    }
  });
  const validations: CelValidation[] = rules.map(({ cel, message, field }) => ({
    rule: cel,
    message,
    ...(field === undefined ? {} : { fieldPath: `.${field}` }),
  }));
  return checked.meta({ [celKey]: validations });
}

/** A pattern as a rule, so that the API server says what is wanted instead of showing the pattern. */
export function matching(pattern: RegExp, message: string): Rule<string> {
  return {
    cel: `self.matches(r'${pattern.source.replaceAll('\\/', '/')}')`,
    message,
    holds: (value) => pattern.test(value),
  };
}

/** A map with text keys and a bound on their number, which zod has no word for. */
export function boundedMap<Value extends z.ZodType>(value: Value, maxProperties: number) {
  return z
    .record(z.string(), value)
    .refine((map) => Object.keys(map).length <= maxProperties, `must have at most ${maxProperties} entries`)
    .meta({ maxProperties });
}
