/** Talks to the API server of the bench over kept connections, with as little work of its own as possible. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { ControlPlane } from '../cluster/control-plane.ts';

export interface ApiClient {
  /** The body of an answer of the 200s; anything else throws. */
  send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<string>;
  /** Chunks of a streamed answer, until `onChunk` returns true. */
  stream(path: string, onChunk: (chunk: Buffer) => boolean): Promise<void>;
  close(): void;
}

const connections = 32;
const answerMs = 60_000;

export function apiClient(cluster: ControlPlane): ApiClient {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections,
    ca: readFileSync(cluster.caFile),
  });
  const authorization = `Bearer ${cluster.token('admin')}`;

  return {
    send(method, path, body) {
      return new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        const asked = request(
          `${cluster.url}${path}`,
          { method, agent, headers: { authorization, 'content-type': type } },
          (answer) => {
            const chunks: Buffer[] = [];
            answer.on('data', (chunk: Buffer) => chunks.push(chunk));
            answer.on('error', reject);
            answer.on('end', () => {
              const said = Buffer.concat(chunks).toString();
              const status = answer.statusCode ?? 0;
              if (status >= 200 && status < 300) resolve(said);
              else reject(new Error(`${method} ${path}: ${status} ${said.slice(0, 300)}`));
            });
          },
        );
        asked.setTimeout(answerMs, () => asked.destroy(new Error(`${method} ${path}: no answer`)));
        asked.on('error', reject);
        asked.end(text);
      });
    },
    stream(path, onChunk) {
      return new Promise((resolve, reject) => {
        const asked = request(`${cluster.url}${path}`, { agent, headers: { authorization } }, (answer) => {
          answer.on('data', (chunk: Buffer) => {
            if (!onChunk(chunk)) return;
            asked.destroy();
            resolve();
          });
          answer.on('error', reject);
          answer.on('end', () => reject(new Error(`${path} ended early`)));
        });
        asked.on('error', reject);
        asked.end();
      });
    },
    close: () => agent.destroy(),
  };
}

/** Does the same for many, at most as many at a time as there are connections. */
export async function many(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: connections }, async () => {
    for (let index = next++; index < count; index = next++) await one(index);
  });
  await Promise.all(workers);
}
