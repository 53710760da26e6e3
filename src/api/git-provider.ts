/** GitProvider: one repository, the credentials for it and how commits are made. */
import * as z from 'zod';
import { commonStatus, count, timestamp } from './condition.ts';
import { gitProviderConditions } from './conditions.ts';
import { type KindDefinition, objectSchema } from './definition.ts';
import { objectName, secretReference } from './references.ts';
import { matching, withRules } from './rules.ts';

const identityPart = [
  matching(
    /^[^<>\x00-\x1f\x7f]*[^<>\x00-\x20\x7f][^<>\x00-\x1f\x7f]*$/,
    'must not be blank and not hold < > or control characters',
  ),
];

const committer = z
  .object({
    name: withRules(z.string().min(1).max(256).describe('Name of the committer.'), identityPart).default(
      'GitOps Reverser',
    ),
    email: withRules(
      z
        .string()
        .min(1)
        .max(256)
        .describe(
          'Address of the committer. A host marks signed commits as verified only for an address it knows.',
        ),
      identityPart,
    ).default('noreply@gitops-reverser.invalid'),
  })
  .describe('Committer of every commit, and its author when nobody else is known.');

const signing = z
  .object({
    secretRef: secretReference(
      'Secret with the SSH private key: `signing.key` (PEM), `passphrase`, `signing.pub`.',
    ),
    generateWhenMissing: z
      .boolean()
      .describe('Make an ed25519 key pair in that Secret when it has none.')
      .default(false),
  })
  .describe('Sign commits with an SSH key.');

const knownHosts = z
  .object({
    kind: z.enum(['ConfigMap', 'Secret']).describe('Kind of the object.').default('ConfigMap'),
    name: objectName('Name of the object, in the namespace of this GitProvider.'),
  })
  .describe(
    'Host keys for SSH: key `known_hosts`, else `ssh_known_hosts`. Keys in the credentials Secret come first.',
  )
  .meta({ 'x-kubernetes-map-type': 'atomic' });

const url = withRules(z.string().min(1).max(2048).describe('Repository address: HTTPS, HTTP or SSH.'), [
  matching(
    /^((https?|ssh):\/\/[^\x00-\x20\x7f]+|[^\x00-\x20\x7f@/:]+@[^\x00-\x20\x7f@/:]+:[^\x00-\x20\x7f]+|[^\x00-\x20\x7f@/:]+:[^\x00-\x20\x7f/:][^\x00-\x20\x7f]*)$/,
    'must be an https, http or ssh address, such as https://example.com/shop.git or git@example.com:shop.git',
  ),
  {
    cel: "!self.matches('^https?://[^/]*@') && !self.matches('^ssh://[^/@]*:[^/]*@')",
    message: 'must not hold a user or password: put them into a Secret and name it in secretRef',
    holds: (value) => !/^https?:\/\/[^/]*@/.test(value) && !/^ssh:\/\/[^/@]*:[^/]*@/.test(value),
  },
]);

const spec = z
  .object({
    url,
    secretRef: secretReference(
      'Secret with the Git credentials, which need write access. Without it the remote is used anonymously.',
    ).optional(),
    knownHostsRef: knownHosts.optional(),
    allowedBranches: z
      .array(z.string().min(1).max(255).describe('A branch name or a glob such as `env/*`.'))
      .min(1)
      .max(64)
      .describe('Branches that may be written.'),
    commit: z
      .object({
        committer: committer.prefault({}),
        signing: signing.optional(),
      })
      .describe('How commits are made.')
      .prefault({}),
  })
  .describe('The wanted state.');

const status = z
  .object({
    ...commonStatus,
    signingPublicKey: z
      .string()
      .max(4096)
      .optional()
      .describe('Public signing key in authorized_keys form; register it at the host.'),
    branches: z
      .array(
        z.object({
          name: z.string().max(255).describe('Branch name.'),
          gitTargetCount: count('GitTargets on this branch, suspended ones too.'),
        }),
      )
      .max(1024)
      .optional()
      .describe('Branches that GitTargets use.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    lastVerifiedAt: timestamp('When the remote last answered.').optional(),
  })
  .describe('The observed state.');

export const gitProvider = objectSchema('GitProvider', spec, status);

export type GitProvider = z.output<typeof gitProvider>;
export type GitProviderSpec = z.output<typeof spec>;
export type GitProviderStatus = z.output<typeof status>;

export const gitProviderKind = {
  kind: 'GitProvider',
  singular: 'gitprovider',
  plural: 'gitproviders',
  shortNames: ['gprov'],
  scope: 'Namespaced',
  description: 'A Git repository, the credentials for it and how commits are made.',
  intro: `A GitProvider names one repository and says how the sidecar reaches it. It writes nothing by itself: a GitTarget
in the same namespace uses it to write one folder on one branch.

The credentials Secret may hold an SSH key (\`ssh-privatekey\`, \`identity\` or \`sshPrivateKey\`, with \`known_hosts\`), a
\`password\` with or without \`username\`, or a \`bearerToken\`. A rotated Secret is picked up at the next use.`,
  columns: [{ name: 'URL', type: 'string', jsonPath: '.spec.url' }],
  immutable: [
    { field: 'url', optional: false, instead: 'create another GitProvider for another repository' },
  ],
  conditions: gitProviderConditions,
  schema: gitProvider,
} as const satisfies KindDefinition;
