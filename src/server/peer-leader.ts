/**
 * The leader as a follower sees it: found through the Lease, asked over its peer listener. It decides nothing: whoever cannot
 * be asked in time is LeaderUnreachable, and what is answered is answered by the leader alone.
 */
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { request as requestTls } from 'node:https';
import type { z } from 'zod';
import { type Closed, closed } from '../core/gate/index.ts';
import type { Log } from '../telemetry/log.ts';
import type { DoorAnswer } from '../worker/flux-door.ts';
import type { Door } from './artifact-door.ts';
import type { AskLeader } from './gate.ts';
import { leaderAnswers } from './gate-api.ts';

/** Who holds a Lease that is still being renewed. */
export interface LeaderRecord {
  readonly identity: string;
  /** `HOST:PORT` of its peer listener; undefined when it has none. */
  readonly address: string | undefined;
}

export interface PeerLeaderOptions {
  /** Undefined while nobody leads. */
  readonly leader: () => LeaderRecord | undefined;
  readonly token: () => Promise<string>;
  /** With it the leader must show a certificate of this authority for this name. */
  readonly tls: { readonly caFile: string; readonly serverName: string } | undefined;
  readonly log: Log;
  counted?(call: LeaderCall, result: 'answered' | 'unreachable'): void;
}

export type LeaderCall = 'gate' | 'flush' | 'status' | 'door';

type Asked =
  | { readonly kind: 'ok'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'unreachable'; readonly message: string };

/** The asking side gets its answer before its own deadline ends. */
const marginMs = 250;
const callMarginMs = 50;
const leastDeadlineMs = 100;
const statusMs = 3_000;
/** As long as the door itself may take; the artifact listener gives up later. */
const doorMs = 17_500;
const addressForm = /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):\d{1,5}$/;
/** An answer names each edit that an old revision lacks. */
const answerLimit = 8 * 1024 * 1024;

export function peerLeader(options: PeerLeaderOptions): AskLeader & Door {
  async function ask(name: LeaderCall, body: object | undefined, deadlineMs: number): Promise<Asked> {
    const asked = await askLeader(`/v1/${name}`, body, deadlineMs);
    options.counted?.(name, asked.kind === 'ok' ? 'answered' : 'unreachable');
    return asked;
  }

  async function askLeader(path: string, body: object | undefined, deadlineMs: number): Promise<Asked> {
    const leader = options.leader();
    if (leader === undefined) return unreachable('no replica leads at the moment');
    const { identity, address } = leader;
    if (address === undefined) {
      return unreachable(`replica ${identity} leads and has no peer listener; set --peer-bind-address there`);
    }
    if (!addressForm.test(address))
      return unreachable(`replica ${identity} leads and gives no usable address`);
    const where = `replica ${identity}, which leads, at ${address}`;
    try {
      const asked = await call(options, { address, path, body, deadlineMs });
      if (asked.status === 401) return unreachable(`${where}, has another token in its --peer-token-file`);
      if (asked.status === 503) return unreachable(`${where}, does not lead any more`);
      if (asked.status >= 500 || asked.status === 400 || asked.status === 413)
        return unreachable(`${where}, answered ${asked.status}; do all replicas run the same version?`);
      return { kind: 'ok', ...asked };
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown error';
      options.log.warn({ leader: identity, address, problem: why }, 'the leader cannot be asked');
      return unreachable(`${where}, does not answer: ${why}`);
    }
  }

  return {
    async gate(question, deadlineMs) {
      const left = Math.max(leastDeadlineMs, deadlineMs - marginMs);
      const asked = await ask('gate', { ...question, deadlineMs: left }, deadlineMs - callMarginMs);
      return understood(asked, leaderAnswers.gate);
    },
    async flush(target, deadlineMs) {
      const left = Math.max(leastDeadlineMs, deadlineMs - marginMs);
      const asked = await ask('flush', { target, deadlineMs: left }, deadlineMs - callMarginMs);
      if (asked.kind === 'ok' && asked.status === 404) return undefined;
      return understood(asked, leaderAnswers.flush);
    },
    async ready() {
      const asked = await ask('status', undefined, statusMs);
      const status = understood(asked, leaderAnswers.status);
      return !('decision' in status) && status.leading && status.ready;
    },
    async decide(name, path): Promise<DoorAnswer> {
      const asked = await ask('door', { ...name, path }, doorMs);
      const answer = understood(asked, leaderAnswers.door);
      if ('kind' in answer) return answer;
      return { kind: 'locked', message: `held by GitOps Reverser: ${answer.reason}: ${answer.message}` };
    },
  };
}

function understood<T extends z.ZodType>(asked: Asked, schema: T): z.output<T> | Closed {
  if (asked.kind === 'unreachable') return closed('LeaderUnreachable', asked.message);
  const parsed = schema.safeParse(asked.body);
  if (parsed.success) return parsed.data;
  return closed(
    'LeaderUnreachable',
    'the answer of the leader is not understood; do all replicas run the same version?',
  );
}

function unreachable(message: string): Asked {
  return { kind: 'unreachable', message };
}

/** One request on a connection of its own. @throws when there is no whole answer by the deadline */
async function call(
  { token, tls }: PeerLeaderOptions,
  asked: { address: string; path: string; body: object | undefined; deadlineMs: number },
): Promise<{ status: number; body: unknown }> {
  const signal = AbortSignal.timeout(asked.deadlineMs);
  const text = asked.body === undefined ? '' : JSON.stringify(asked.body);
  const [secret, ca] = await Promise.all([token(), tls === undefined ? undefined : readFile(tls.caFile)]);
  if (secret === '') throw new Error('the file of --peer-token-file is empty');
  const url = new URL(asked.path, `${tls === undefined ? 'http' : 'https'}://${asked.address}`);
  const options = {
    method: asked.body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
    agent: false,
    signal,
  } as const;
  try {
    const answered = await new Promise<IncomingMessage>((resolve, reject) => {
      // Its address is a pod's; the certificate is for the name that all replicas share.
      const sent =
        tls === undefined
          ? request(url, options, resolve)
          : requestTls(url, { ...options, ca, servername: tls.serverName }, resolve);
      sent.on('error', reject);
      sent.end(text);
    });
    return { status: answered.statusCode ?? 0, body: await read(answered) };
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${asked.deadlineMs} ms`, { cause: error });
    throw error;
  }
}

async function read(answered: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answered) {
    size += chunk.length;
    if (size > answerLimit) throw new Error('its answer is too large');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (error) {
    throw new Error('its answer is not JSON', { cause: error });
  }
}
