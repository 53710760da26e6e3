/** KubeProvider: a source cluster, how to reach it and whom it serves. */
import * as z from 'zod';
import { commonStatus } from './condition.ts';
import { kubeProviderConditions } from './conditions.ts';
import { type KindDefinition, objectSchema } from './definition.ts';
import { objectName, subdomain } from './references.ts';
import { withRules } from './rules.ts';
import { gitTargetGrant } from './selector.ts';

const kubeConfig = z
  .object({
    secretRef: z
      .object({
        name: objectName('Name of the Secret, in the namespace of the sidecar.'),
        key: z
          .string()
          .max(253)
          .optional()
          .describe('Key of the kubeconfig. Default: `value`, then `value.yaml`.'),
      })
      .describe('Secret with the kubeconfig. Its content may be rotated.')
      .meta({ 'x-kubernetes-map-type': 'atomic' }),
  })
  .describe('Another cluster, reached through a kubeconfig.');

const client = z
  .object({
    qps: z
      .int()
      .min(1)
      .max(10_000)
      .describe('Requests a second, on average.')
      .default(20)
      .meta({ format: 'int32' }),
    burst: z.int().min(1).max(10_000).describe('Requests at once.').default(30).meta({ format: 'int32' }),
  })
  .describe('Limits of the requests to this cluster; not used for inCluster.');

const spec = withRules(
  z.object({
    inCluster: z.object({}).optional().describe('The cluster the sidecar runs in; an empty object.'),
    kubeConfig: kubeConfig.optional(),
    client: client.prefault({}),
    allowedGitTargets: z
      .array(gitTargetGrant)
      .max(64)
      .describe('Who may mirror from this cluster, and which of its namespaces. Empty: nobody.')
      .default([]),
    allowCrossNamespace: z
      .object({
        appliers: z
          .boolean()
          .describe(
            'Let GitTargets of admitted namespaces guard an applier of another namespace whose source is their repository.',
          )
          .default(false),
      })
      .describe('What admitted namespaces may do beyond their own.')
      .prefault({}),
    attribution: z
      .object({
        auditRoute: subdomain(
          'Last segment of the audit webhook path of this cluster. Default: the name of the KubeProvider.',
        ).optional(),
      })
      .optional()
      .describe('Where the audit events of this cluster arrive.'),
  }),
  [
    {
      cel: 'has(self.inCluster) != has(self.kubeConfig)',
      message: 'exactly one of inCluster and kubeConfig must be set',
      holds: (value) => (value.inCluster !== undefined) !== (value.kubeConfig !== undefined),
    },
  ],
).describe('The wanted state.');

const status = z
  .object({
    ...commonStatus,
    auditRoute: z.string().max(253).optional().describe('Route on which AuditFactsReceived became True.'),
  })
  .describe('The observed state.');

export const kubeProvider = objectSchema('KubeProvider', spec, status);

export type KubeProvider = z.output<typeof kubeProvider>;
export type KubeProviderSpec = z.output<typeof spec>;
export type KubeProviderStatus = z.output<typeof status>;

export const kubeProviderKind = {
  kind: 'KubeProvider',
  singular: 'kubeprovider',
  plural: 'kubeproviders',
  shortNames: ['kprov'],
  scope: 'Cluster',
  description: 'A source cluster: how to reach it, who may mirror from it and which namespaces it lends.',
  intro: `A KubeProvider is a cluster whose objects are mirrored: the one the sidecar runs in, or another one behind a kubeconfig.
It denies by default: a GitTarget may use it only from a namespace that \`allowedGitTargets\` admits, and sees only the
namespaces lent there.

A GitTarget without \`kubeProviderRef\` uses the KubeProvider named \`default\`. The name means nothing else, and nobody
creates that object for you.`,
  columns: [
    {
      name: 'Secret',
      type: 'string',
      jsonPath: '.spec.kubeConfig.secretRef.name',
      description: 'Empty for inCluster.',
    },
  ],
  immutable: [
    { field: 'inCluster', optional: true, instead: 'create another KubeProvider for another cluster' },
    { field: 'kubeConfig', optional: true, instead: 'create another KubeProvider for another cluster' },
  ],
  conditions: kubeProviderConditions,
  schema: kubeProvider,
} as const satisfies KindDefinition;
