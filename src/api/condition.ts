/** A condition as Kubernetes writes it. */
import * as z from 'zod';

export const condition = z.object({
  type: z
    .string()
    .max(316)
    .regex(/^[A-Za-z]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/)
    .describe('What is told, as a positive state.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('Generation of the spec this was decided on.')
    .meta({ format: 'int64' }),
  lastTransitionTime: z.iso.datetime({ offset: true }).describe('When status last changed.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('Why, in one word.'),
  message: z.string().max(32_768).describe('Why, for a person, and what to do.'),
});

export type Condition = z.output<typeof condition>;
export type ConditionStatus = Condition['status'];

/** Fields every status has. */
export const commonStatus = {
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('Generation of the spec the status speaks of.')
    .meta({ format: 'int64' }),
  conditions: z
    .array(condition)
    .max(32)
    .optional()
    .describe('Current state; see the table of conditions.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
} as const;

export function timestamp(description: string) {
  return z.iso.datetime({ offset: true }).describe(description);
}

export function count(description: string) {
  return z.int().min(0).describe(description).meta({ format: 'int32' });
}

/** The collections a rule or a target follows. */
export const streams = z
  .object({
    summary: z.string().max(32).optional().describe('Ready and all streams, such as 3/4.'),
    total: count('Streams this object needs.').optional(),
    ready: count('Streams that are past their snapshot.').optional(),
    replaying: count('Streams that read their snapshot.').optional(),
    blocked: count('Streams that cannot be opened.').optional(),
    pendingSample: z
      .array(z.string().max(512))
      .max(5)
      .optional()
      .describe('Some of the streams that are not ready.'),
  })
  .describe('State of the watched collections.');
