/** ClusterWatchRule: which cluster-scoped resources feed a GitTarget. */
import * as z from 'zod';
import { commonStatus, streams } from './condition.ts';
import { clusterWatchRuleConditions } from './conditions.ts';
import { type KindDefinition, objectSchema } from './definition.ts';
import { namespaceName, objectName } from './references.ts';
import { maxRules, watchedResources } from './watched-resources.ts';

const spec = z
  .object({
    gitTargetRef: z
      .object({
        name: objectName('Name of the GitTarget.'),
        namespace: namespaceName('Namespace of the GitTarget.'),
      })
      .describe('Where the objects go. The KubeProvider has to admit that namespace.')
      .meta({ 'x-kubernetes-map-type': 'atomic' }),
    rules: z
      .array(z.object(watchedResources))
      .min(1)
      .max(maxRules)
      .describe('An object is selected when any of these matches.'),
  })
  .describe('The wanted state.');

const status = z.object({ ...commonStatus, streams: streams.optional() }).describe('The observed state.');

export const clusterWatchRule = objectSchema('ClusterWatchRule', spec, status);

export type ClusterWatchRule = z.output<typeof clusterWatchRule>;
export type ClusterWatchRuleSpec = z.output<typeof spec>;
export type ClusterWatchRuleStatus = z.output<typeof status>;

export const clusterWatchRuleKind = {
  kind: 'ClusterWatchRule',
  singular: 'clusterwatchrule',
  plural: 'clusterwatchrules',
  shortNames: ['cwr'],
  scope: 'Cluster',
  description: 'Which cluster-scoped resources feed a GitTarget.',
  intro: `A ClusterWatchRule selects cluster-scoped objects, such as ClusterRoles, and feeds them to a GitTarget in any namespace
that the KubeProvider admits. Namespaced objects are the business of a WatchRule.`,
  columns: [
    { name: 'Namespace', type: 'string', jsonPath: '.spec.gitTargetRef.namespace' },
    { name: 'Target', type: 'string', jsonPath: '.spec.gitTargetRef.name' },
    { name: 'Streams', type: 'string', jsonPath: '.status.streams.summary' },
  ],
  immutable: [],
  conditions: clusterWatchRuleConditions,
  schema: clusterWatchRule,
} as const satisfies KindDefinition;
