/**
 * The listener for other replicas: the same interface as the gate's, with a token that all replicas share, and the question
 * of the artifact door. It answers only while this replica leads and never hands anything on, so that no call can circle.
 */

import type { Door } from './artifact-door.ts';
import { type Gate, type GateServerOptions, type GateServerResult, gateApp, serveApp } from './gate.ts';
import { doorRequest } from './gate-api.ts';

export interface PeerServerOptions extends Omit<GateServerOptions, 'leader'> {
  readonly gate: () => Gate | undefined;
  readonly door: () => Door | undefined;
}

export function startPeerServer(options: PeerServerOptions): Promise<GateServerResult> {
  const { door, address, tls, log } = options;
  const app = gateApp({
    ...options,
    tokenFlag: '--peer-token-file',
    routes(routed) {
      routed.post('/v1/door', async (request, response) => {
        const parsed = doorRequest.safeParse(request.body);
        if (!parsed.success) return void response.status(400).json({});
        const now = door();
        // Not said in words of the door: only the asking replica knows whom it took for the leader.
        if (now === undefined) return void response.status(503).json({});
        const { path, ...name } = parsed.data;
        response.json(await now.decide(name, path));
      });
    },
  });
  return serveApp(app, { address, tls, log, name: 'peer', flag: '--peer-bind-address' });
}
