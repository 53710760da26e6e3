/** WatchRule: which namespaced resources feed a GitTarget. */
import * as z from 'zod';
import { commonStatus, streams } from './condition.ts';
import { watchRuleConditions } from './conditions.ts';
import { type KindDefinition, objectSchema } from './definition.ts';
import { nameReference, namespaceOrAll } from './references.ts';
import { maxRules, watchedResources } from './watched-resources.ts';

const rule = z.object({
  ...watchedResources,
  sourceNamespace: namespaceOrAll(
    "Namespace of the source cluster, or `*` for all. Default: the rule's own. Others have to be lent by the KubeProvider.",
  ).optional(),
});

const spec = z
  .object({
    gitTargetRef: nameReference('Where the objects go.', 'Name of the GitTarget, in the same namespace.'),
    rules: z.array(rule).min(1).max(maxRules).describe('An object is selected when any of these matches.'),
  })
  .describe('The wanted state.');

const status = z.object({ ...commonStatus, streams: streams.optional() }).describe('The observed state.');

export const watchRule = objectSchema('WatchRule', spec, status);

export type WatchRule = z.output<typeof watchRule>;
export type WatchRuleSpec = z.output<typeof spec>;
export type WatchRuleStatus = z.output<typeof status>;

export const watchRuleKind = {
  kind: 'WatchRule',
  singular: 'watchrule',
  plural: 'watchrules',
  shortNames: ['wr'],
  scope: 'Namespaced',
  description: 'Which namespaced resources feed a GitTarget.',
  intro: `A WatchRule selects namespaced objects and feeds them to a GitTarget of its own namespace. The selected objects live in
the namespace of the rule, in another one that the KubeProvider lends, or in all of them (\`sourceNamespace: "*"\`).

A rule says what is watched; where a document goes follows from each object's own namespace. Losing access to a
namespace never deletes documents.`,
  columns: [
    { name: 'Target', type: 'string', jsonPath: '.spec.gitTargetRef.name' },
    { name: 'Streams', type: 'string', jsonPath: '.status.streams.summary' },
  ],
  immutable: [],
  conditions: watchRuleConditions,
  schema: watchRule,
} as const satisfies KindDefinition;
