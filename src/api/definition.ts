/** What makes a kind: names, scope, schema, columns, conditions and the words of its reference page. */
import * as z from 'zod';
import type { ConditionTable } from './conditions.ts';
import { apiVersion } from './group.ts';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
}

export interface ImmutableField {
  /** Top-level field of the spec. */
  readonly field: string;
  /** Whether the field may be absent; adding and removing it is a change too. */
  readonly optional: boolean;
  /** What to do instead. */
  readonly instead: string;
}

export interface KindDefinition {
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  /** One sentence: the description of the kind in the CRD. */
  readonly description: string;
  /** Hand-written opening of the reference page, in Markdown. */
  readonly intro: string;
  /** Columns of the kind itself; Ready, Reason, Message, conditions and Age are added for every kind. */
  readonly columns: readonly Column[];
  readonly immutable: readonly ImmutableField[];
  /** Empty for a kind that only carries an answer. */
  readonly conditions: ConditionTable;
  /** The whole object. */
  readonly schema: z.ZodObject<{ apiVersion: z.ZodLiteral<string>; spec: z.ZodType; status: z.ZodType }>;
}

/** Object metadata: the fields we read. Others are kept. */
const objectMeta = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

export type ObjectMeta = z.output<typeof objectMeta>;

/** The schema of a whole object. Unknown fields are dropped, so that an older program can read a newer object. */
export function objectSchema<const Kind extends string, Spec extends z.ZodType, Status extends z.ZodType>(
  kind: Kind,
  spec: Spec,
  status: Status,
) {
  return z.object({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: objectMeta,
    spec,
    status: status.optional(),
  });
}
