/** GitTarget: one folder on one branch that mirrors objects of one source cluster. */
import * as z from 'zod';
import { commonStatus, count, streams, timestamp } from './condition.ts';
import { gitTargetConditions } from './conditions.ts';
import { type KindDefinition, objectSchema } from './definition.ts';
import { commit, encryption, folderPath, placement } from './git-target-spec.ts';
import { branchName, nameReference } from './references.ts';
import { withRules } from './rules.ts';

const pruneMode = z.enum(['Never', 'OnEvent', 'Always']);

const spec = withRules(
  z.object({
    gitProviderRef: nameReference(
      'The repository, together with branch.',
      'Name of the GitProvider, in the same namespace.',
    ).optional(),
    branch: branchName('The branch. The GitProvider has to allow it.').optional(),
    gitBranchRef: nameReference(
      'The branch, instead of gitProviderRef and branch.',
      'Name of the GitBranch, in the same namespace.',
    ).optional(),
    path: folderPath,
    kubeProviderRef: nameReference('The source cluster.', 'Name of the KubeProvider.').default({
      name: 'default',
    }),
    encryption: encryption.optional(),
    placement: placement.optional(),
    serializeNamespace: z
      .boolean()
      .optional()
      .describe(
        'Write metadata.namespace always (true) or never (false, for one source namespace). Default: decided per document.',
      ),
    prune: z
      .object({
        mode: pruneMode
          .describe(
            'Never: documents stay. OnEvent: a delete that was seen removes them. Always: a complete snapshot does too.',
          )
          .default('OnEvent'),
      })
      .describe('What happens to the document of an object that is gone.')
      .prefault({}),
    commit: commit.prefault({}),
    ignoreManagers: z
      .array(z.string().min(1).max(128).describe('Name or glob of a field manager.'))
      .max(64)
      .optional()
      .describe('Field managers whose fields are no edits, beside the known controllers.'),
    suspend: z.boolean().describe('Stop writing. Watching and status go on.').default(false),
  }),
  [
    {
      cel: 'has(self.gitBranchRef) ? !has(self.gitProviderRef) && !has(self.branch) : has(self.gitProviderRef) && has(self.branch)',
      message: 'set either gitProviderRef and branch, or gitBranchRef',
      holds: ({ gitBranchRef, gitProviderRef, branch }) =>
        gitBranchRef === undefined
          ? gitProviderRef !== undefined && branch !== undefined
          : gitProviderRef === undefined && branch === undefined,
    },
  ],
).describe('The wanted state.');

const status = z
  .object({
    ...commonStatus,
    streams: streams.optional(),
    retention: z
      .object({
        mode: pruneMode.describe('The prune mode in force.'),
        retainedDocuments: count('Documents whose object is gone and that stay because of the mode.'),
        lastChangedAt: timestamp('When the number last changed.').optional(),
      })
      .optional()
      .describe('What the last snapshot left in the folder. Absent before the first one.'),
    placement: z
      .object({
        mode: z.enum(['Plain', 'KustomizeRoot', 'KustomizeOverlay']).describe('Layout of the folder.'),
        renderRoot: z.string().max(1024).optional().describe('Folder of the governing kustomization.'),
        readOnlyBases: z
          .array(z.string().max(1024))
          .max(64)
          .optional()
          .describe('Folders outside the path that are read and never written.'),
        resolvedAtCommit: z.string().max(64).optional().describe('Commit the layout was read from.'),
        resolvedAt: timestamp('When it was read.').optional(),
      })
      .optional()
      .describe('How new documents join the folder.'),
    remote: z
      .object({
        commit: z.string().max(64).optional().describe('Tip of the branch on the remote.'),
        lastVerifiedAt: timestamp('When the remote was last seen; written at most once a minute.').optional(),
        verifiedBy: z.enum(['Push', 'Fetch']).optional().describe('How it was seen.'),
      })
      .optional()
      .describe('The remote as last seen.'),
    lastHandledReconcileAt: z
      .string()
      .max(256)
      .optional()
      .describe('Last value of the annotation reconcile.configbutler.ai/requestedAt that was acted on.'),
    lastHandledFlushAt: z
      .string()
      .max(256)
      .optional()
      .describe(
        'Last value of the annotation reconcile.configbutler.ai/flushRequestedAt whose flush is done.',
      ),
    lastFlush: z
      .object({
        outcome: z
          .enum(['Done', 'Incomplete'])
          .describe('Done: the remote has every edit that can be written. Incomplete: see the message.'),
        message: z.string().max(32_768).describe('What was published, refused or still waits, and why.'),
      })
      .optional()
      .describe('What came of the flush named in lastHandledFlushAt.'),
  })
  .describe('The observed state.');

export const gitTarget = objectSchema('GitTarget', spec, status);

export type GitTarget = z.output<typeof gitTarget>;
export type GitTargetSpec = z.output<typeof spec>;
export type GitTargetStatus = z.output<typeof status>;

export const gitTargetKind = {
  kind: 'GitTarget',
  singular: 'gittarget',
  plural: 'gittargets',
  shortNames: ['gtgt'],
  scope: 'Namespaced',
  description: 'One folder on one branch that live edits are written to.',
  intro: `A GitTarget is one folder on one branch. Rules (WatchRule, ClusterWatchRule) say which objects feed it; every edit of
those objects is written into the manifest that made them, and new objects get a new file.

Two GitTargets never share a folder, nor may one lie inside the other: the younger one is refused with \`TargetConflict\`.
Deleting a GitTarget stops the watches and leaves the folder as it is.

Annotations: any new value of \`reconcile.configbutler.ai/requestedAt\` reads Git again and takes a new snapshot; any new
value of \`reconcile.configbutler.ai/flushRequestedAt\` publishes what is pending, answered in \`status.lastHandledFlushAt\` and \`status.lastFlush\`.`,
  columns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.gitProviderRef.name' },
    { name: 'Branch', type: 'string', jsonPath: '.spec.branch' },
    { name: 'Path', type: 'string', jsonPath: '.spec.path' },
    { name: 'Streams', type: 'string', jsonPath: '.status.streams.summary' },
  ],
  immutable: [
    { field: 'gitProviderRef', optional: true, instead: 'create another GitTarget' },
    { field: 'branch', optional: true, instead: 'create another GitTarget' },
    { field: 'gitBranchRef', optional: true, instead: 'create another GitTarget' },
    { field: 'path', optional: false, instead: 'create another GitTarget' },
    { field: 'kubeProviderRef', optional: false, instead: 'create another GitTarget' },
  ],
  conditions: gitTargetConditions,
  schema: gitTarget,
} as const satisfies KindDefinition;
