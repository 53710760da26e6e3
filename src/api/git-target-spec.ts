/** The parts of a GitTarget's spec: encryption, placement, commit windows and messages. */
import * as z from 'zod';
import { durationUpTo, parseDuration } from './duration.ts';
import { secretReference } from './references.ts';
import { boundedMap, matching, withRules } from './rules.ts';

export const folderPath = withRules(
  z
    .string()
    .min(1)
    .max(1024)
    .describe('Folder in the repository, relative to its root. `.` is the root itself.'),
  [
    {
      cel: "!self.startsWith('/') && !self.matches('(^|/)[.][.](/|$)')",
      message: 'must be relative and must not leave the repository: no leading / and no ..',
      holds: (value) => !value.startsWith('/') && !/(^|\/)[.][.](\/|$)/.test(value),
    },
    matching(/^[^\x00-\x1f\x7f\\]*$/, 'must not hold control characters or a backslash'),
    {
      cel: "!self.matches('(?i)(^|/)[.]git(/|$)')",
      message: 'must not name a .git folder',
      holds: (value) => !/(^|\/)[.]git(\/|$)/i.test(value),
    },
  ],
);

const recipients = z
  .object({
    publicKeys: z
      .array(
        z
          .string()
          .max(4096)
          .regex(/^age1[a-z0-9]+$/, 'must be an age recipient (age1...)')
          .describe('An age recipient.'),
      )
      .max(64)
      .optional()
      .describe('Recipients by their public key.'),
    extractFromSecret: z
      .boolean()
      .describe('Take the recipient of every `*.agekey` entry of the Secret.')
      .default(false),
    generateWhenMissing: z
      .boolean()
      .describe('Make a `*.agekey` entry in the Secret when it has none.')
      .default(false),
  })
  .describe('Who can decrypt.');

export const encryption = z
  .object({
    provider: z.enum(['sops']).describe('What encrypts.').default('sops'),
    secretRef: secretReference('Secret with `*.agekey` entries, one age key each.').optional(),
    age: z
      .object({
        enabled: z
          .boolean()
          .describe('Encrypt with age. False: encryption is not configured.')
          .default(false),
        recipients: recipients.optional(),
      })
      .optional()
      .describe('age keys.'),
  })
  .describe('Encryption of sensitive objects. Without it they are refused, never written in plain text.');

const placementTemplate = z.string().min(1).max(1024);

export const placement = z
  .object({
    byType: boundedMap(placementTemplate.describe('Path template.'), 256)
      .optional()
      .describe('Path template per type; the key is `[group/]version/resource`.'),
    default: placementTemplate.optional().describe('Path template for every other type.'),
    useKustomize: z
      .boolean()
      .describe('Make a kustomization at the path of the target when none governs a new document.')
      .default(false),
  })
  .describe('Where new documents go. Existing documents stay where they are.');

export const commit = z
  .object({
    window: withRules(
      z.object({
        idleTimeout: durationUpTo(
          '24h',
          'A commit is made after this much silence. `0s`: a commit per edit.',
        ).default('5s'),
        maxDuration: durationUpTo(
          '24h',
          'A commit is made at the latest this long after its first edit.',
        ).default('1m'),
      }),
      [
        {
          cel: 'duration(self.idleTimeout) <= duration(self.maxDuration)',
          message: 'idleTimeout must not be longer than maxDuration',
          holds: ({ idleTimeout, maxDuration }) =>
            (parseDuration(idleTimeout) ?? 0) <= (parseDuration(maxDuration) ?? 0),
          field: 'idleTimeout',
        },
      ],
    )
      .describe('How edits gather into one commit.')
      .prefault({}),
    message: z
      .object({
        liveTemplate: z
          .string()
          .min(1)
          .max(16_384)
          .optional()
          .describe('Template for commits of live edits.'),
        reconcileTemplate: z
          .string()
          .min(1)
          .max(16_384)
          .optional()
          .describe('Template for commits of a snapshot.'),
      })
      .optional()
      .describe('Commit messages, as Go text/template. Default: built in.'),
  })
  .describe('How commits are made.');
