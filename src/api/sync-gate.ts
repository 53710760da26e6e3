/** SyncGate: the hook with which a sync of Argo CD waits for our answer. Made by Argo CD, answered in its status. */
import * as z from 'zod';
import { timestamp } from './condition.ts';
import { type KindDefinition, objectSchema } from './definition.ts';

const spec = z
  .object({
    application: z
      .string()
      .max(317)
      .regex(/^([a-z0-9][-a-z0-9.]*\/)?[a-z0-9][-a-z0-9.]*$/)
      .optional()
      .describe(
        'NAME or NAMESPACE/NAME of the Application that may use this gate. Another one stays closed.',
      ),
    revision: z
      .string()
      .regex(/^[0-9a-f]{40}$/)
      .optional()
      .describe(
        'Commit that was rendered. What it holds is judged too, besides the commit Argo CD says it syncs.',
      ),
    path: z
      .string()
      .max(4096)
      .optional()
      .describe('Folder that was rendered. A sync of another folder stays closed.'),
  })
  .describe('Checks. All of them are optional; `spec: {}` is the usual gate.');

const edit = z
  .object({
    target: z.string().max(512).describe('GitTarget, as NAMESPACE/NAME.'),
    object: z.string().max(1024).describe('The object that was edited.'),
    fields: z.array(z.string().max(1024)).max(20).describe('Its edited fields, where they are known.'),
    commit: z.string().max(64).describe('The commit that holds the edit.'),
    author: z.string().max(1024).describe('Who made it, as far as that is known.'),
  })
  .describe('One edit that Git holds and the commit of this sync does not.');

const refusedEdit = z
  .object({
    target: z.string().max(512).describe('GitTarget, as NAMESPACE/NAME.'),
    object: z.string().max(1024).describe('The object that was edited.'),
    fields: z.array(z.string().max(1024)).max(20).describe('Its edited fields, where they are known.'),
    reason: z.string().max(256).describe('Why the edit cannot be written to Git.'),
  })
  .describe('One edit that cannot be written; the sync may overwrite it.');

const status = z
  .object({
    phase: z
      .enum(['Pending', 'Open', 'Superseded', 'Closed'])
      .optional()
      .describe(
        'Pending: not answered yet. Open: the sync goes on. Superseded: a newer commit holds edits this one lacks. Closed: it is not known, or cannot be published; it is asked again.',
      ),
    message: z
      .string()
      .max(4096)
      .optional()
      .describe('Why, for a person. Argo CD shows it in the sync result.'),
    tip: z.string().max(64).optional().describe('Newest commit of the branch when it was answered.'),
    edits: z.array(edit).max(20).optional().describe('Edits that the commit of this sync lacks.'),
    refused: z.array(refusedEdit).max(20).optional().describe('Edits that cannot be written to Git.'),
    degraded: z.boolean().optional().describe('Closed for two minutes: the sync is let fail.'),
    answeredUID: z
      .string()
      .max(64)
      .optional()
      .describe('uid of the object this answers. Argo CD makes a new object for each sync.'),
    observedAt: timestamp('When it was answered.').optional(),
  })
  .describe('The answer.');

export const syncGate = objectSchema('SyncGate', spec, status);

export type SyncGate = z.output<typeof syncGate>;
export type SyncGateStatus = z.output<typeof status>;

export const syncGateKind = {
  kind: 'SyncGate',
  singular: 'syncgate',
  plural: 'syncgates',
  shortNames: ['sg'],
  scope: 'Namespaced',
  description: 'The hook with which a sync of Argo CD waits until every live edit is in Git.',
  intro: `A SyncGate stands in the folder that Argo CD applies, as a PreSync hook. At each sync Argo CD makes it anew and waits for its
health before it applies anything; the sidecar publishes what is pending and answers in the status. \`gitops-reverser gate init FOLDER\`
adds it; the [guide to Argo CD](../guide/argocd.md) tells the rest.

Nobody else writes the status. A SyncGate is never mirrored to Git.`,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Message', type: 'string', jsonPath: '.status.message' },
    { name: 'Tip', type: 'string', jsonPath: '.status.tip' },
  ],
  immutable: [],
  conditions: {},
  schema: syncGate,
} as const satisfies KindDefinition;
