/** The bodies of the gate's HTTP interface, as schemas: what is accepted, and what stands in /v1/openapi.json. */
import { z } from 'zod';

const maxDeadlineMs = 60_000;
/** Callers without a deadline: less than the twenty seconds that the slowest of them waits. */
const defaultDeadlineMs = 18_000;

const name = z.string().min(1).max(253);
const text = z.string().min(1).max(2048);
const deadlineMs = z
  .int()
  .min(100)
  .max(maxDeadlineMs)
  .default(defaultDeadlineMs)
  .describe('The answer comes within this many milliseconds.');

export const gateRequest = z
  .strictObject({
    applier: z.enum(['argocd', 'flux']),
    application: z.strictObject({ namespace: name, name }),
    repoURL: text,
    targetRevision: z.string().max(1024).describe('A branch name, or HEAD for the default branch.'),
    revision: z
      .string()
      .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'must be a full commit id')
      .describe('The commit that is about to be applied.'),
    path: z.string().max(4096),
    phase: z.enum(['render', 'presync', 'fetch']),
    deadlineMs,
  })
  .describe('May this revision be applied?');

export const flushRequest = z
  .strictObject({
    target: z
      .string()
      .max(507)
      .regex(/^[^/]+\/[^/]+$/, 'must be NAMESPACE/NAME of a GitTarget'),
    deadlineMs,
  })
  .describe('Publish every edit of a GitTarget now.');

const edit = z.object({
  target: z.string(),
  object: z.string(),
  fields: z.array(z.string()),
  commit: z.string(),
  author: z.string(),
});
const refused = z.object({
  target: z.string(),
  object: z.string(),
  fields: z.array(z.string()),
  reason: z.string(),
});

const openAnswer = z.union([
  z.object({ decision: z.literal('open'), covered: z.literal(false) }),
  z.object({
    decision: z.literal('open'),
    covered: z.literal(true),
    tip: z.string(),
    revision: z.string(),
    edits: z.array(edit),
    refused: z.array(refused),
  }),
]);
const supersededAnswer = z.object({
  decision: z.literal('superseded'),
  tip: z.string(),
  edits: z.array(edit),
  refused: z.array(refused),
});
const closedAnswer = z.object({
  decision: z.literal('closed'),
  reason: z.enum([
    'SnapshotPending',
    'NotFresh',
    'PushRefused',
    'RemoteUnreachable',
    'BranchGone',
    'HistoryRewritten',
    'SaveHoldsWindow',
    'LeaderUnreachable',
    'Deadline',
  ]),
  message: z.string(),
  retryAfterMs: z.int(),
});
const flushAnswer = z.object({
  tip: z.string().nullable(),
  published: z.array(z.object({ target: z.string(), commit: z.string() })),
  refused: z.array(z.object({ object: z.string(), reason: z.string(), message: z.string() })),
  pending: z.int(),
  closed: z.object({ reason: z.string(), message: z.string() }).nullable(),
});
const statusAnswer = z.object({
  version: z.string(),
  leading: z.boolean().describe('This replica answers itself; another one asks its leader.'),
  ready: z.boolean().describe('Whether questions are answered, here or by the leader.'),
  answers: z.object({ open: z.int(), superseded: z.int(), closed: z.int() }),
});

/** Between replicas only: may an artifact of a GitRepository be served? */
export const doorRequest = z.strictObject({ namespace: name, name, path: text });

/** What a follower understands of the leader's answers. */
export const leaderAnswers = {
  gate: z.union([openAnswer, supersededAnswer, closedAnswer]),
  flush: z.union([flushAnswer, closedAnswer]),
  status: statusAnswer,
  door: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('pass'), url: z.url({ protocol: /^https?$/ }) }),
    z.object({ kind: z.literal('missing'), message: z.string() }),
    z.object({ kind: z.literal('locked'), message: z.string() }),
  ]),
} as const;
export type FlushAnswer = z.output<typeof flushAnswer>;

const problem = z.object({ type: z.string(), title: z.string(), status: z.int(), detail: z.string() });

export function openApi(version: string): object {
  const json = (schema: z.ZodType, description: string) => ({
    description,
    content: { 'application/json': { schema: z.toJSONSchema(schema, { io: 'output' }) } },
  });
  const body = (schema: z.ZodType) => ({
    required: true,
    content: { 'application/json': { schema: z.toJSONSchema(schema, { io: 'input' }) } },
  });
  const problems = {
    default: {
      description: 'A problem document (RFC 9457)',
      content: { 'application/problem+json': { schema: z.toJSONSchema(problem) } },
    },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'GitOps Reverser gate', version },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: {
      '/v1/gate': {
        post: {
          summary: 'Asks whether a revision may be applied',
          requestBody: body(gateRequest),
          responses: {
            200: json(openAnswer, 'Open: apply it'),
            409: json(supersededAnswer, 'Superseded: apply the tip instead'),
            423: json(closedAnswer, 'Closed: edits could not be published, or nobody knows'),
            ...problems,
          },
        },
      },
      '/v1/flush': {
        post: {
          summary: 'Publishes every edit of a GitTarget',
          requestBody: body(flushRequest),
          responses: {
            200: json(flushAnswer, 'What was published'),
            423: json(closedAnswer, 'Nobody could be asked: no replica leads, or it cannot be reached'),
            ...problems,
          },
        },
      },
      '/v1/status': {
        get: {
          summary: 'Whether the gate works',
          responses: { 200: json(statusAnswer, 'The gate'), ...problems },
        },
      },
      '/v1/openapi.json': {
        get: { summary: 'This document', responses: { 200: { description: 'OpenAPI 3.1' } } },
      },
    },
  };
}
