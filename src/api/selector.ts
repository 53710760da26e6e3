/** Label selectors with the bounds a structural schema wants, and the namespace grants made of them. */
import * as z from 'zod';
import { namespaceName, namespaceOrAll } from './references.ts';
import { boundedMap, withRules } from './rules.ts';

const labelPart = '[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?';
const labelValue = z
  .string()
  .max(63)
  .regex(new RegExp(`^(${labelPart})?$`), 'must be a label value');

const labelKey = z
  .string()
  .min(1)
  .max(317)
  .regex(
    new RegExp(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?${labelPart}$`),
    'must be a label key, with or without a prefix',
  )
  .describe('Label key.');

const requirement = withRules(
  z.object({
    key: labelKey,
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the label is compared.'),
    values: z.array(labelValue).max(64).optional().describe('Values for In and NotIn.'),
  }),
  [
    {
      cel: "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
      message: 'In and NotIn need values, Exists and DoesNotExist take none',
      holds: ({ operator, values = [] }) =>
        operator === 'In' || operator === 'NotIn' ? values.length > 0 : values.length === 0,
      field: 'values',
    },
  ],
);

export function labelSelector(description: string) {
  return z
    .object({
      matchLabels: boundedMap(labelValue, 64)
        .optional()
        .describe('Labels an object must have, with these values.'),
      matchExpressions: z.array(requirement).max(32).optional().describe('Conditions that must all hold.'),
    })
    .describe(description)
    .meta({ 'x-kubernetes-map-type': 'atomic' });
}

export type LabelSelector = z.output<ReturnType<typeof labelSelector>>;

/** Which namespaces of the control cluster a cluster-scoped object admits. There is no `Same`: it has no namespace. */
const consumerNamespaces = withRules(
  z.object({
    from: z.enum(['Names', 'Selector', 'All']).describe('How the namespaces are named.'),
    names: z
      .array(namespaceName('A namespace; * is not allowed here.'))
      .max(256)
      .optional()
      .describe('The admitted namespaces, with from: Names.'),
    selector: labelSelector(
      'Labels of the admitted namespaces, with from: Selector. An empty selector admits all.',
    ).optional(),
  }),
  [
    {
      cel: "self.from == 'Names' ? has(self.names) && size(self.names) > 0 : !has(self.names)",
      message: 'names belongs to from: Names, which needs at least one',
      holds: ({ from, names }) =>
        from === 'Names' ? names !== undefined && names.length > 0 : names === undefined,
      field: 'names',
    },
    {
      cel: "(self.from == 'Selector') == has(self.selector)",
      message: 'selector belongs to from: Selector, which needs it',
      holds: ({ from, selector }) => (from === 'Selector') === (selector !== undefined),
      field: 'selector',
    },
  ],
).describe('Namespaces of the control cluster whose GitTargets are admitted.');

export const gitTargetGrant = z.object({
  consumerNamespaces,
  sourceNamespaces: z
    .array(namespaceOrAll('A namespace of the source cluster, or * for the whole cluster.'))
    .min(1)
    .max(256)
    .optional()
    .describe(
      "Namespaces of the source cluster that are lent. Default: the GitTarget's own namespace name only.",
    ),
});

export type GitTargetGrant = z.output<typeof gitTargetGrant>;
