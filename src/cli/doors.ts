/** Wires the gate desk and the doors of Flux and Argo CD. The listeners answer from the start, also on a follower. */
import type { Config } from '../config.ts';
import type { Controllers } from '../controllers/manager.ts';
import type { GateAnswer, GateQuestion } from '../core/gate/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { EventRecorder } from '../kube/events.ts';
import type { LeaseHolder } from '../kube/lease.ts';
import { startArtifactDoor } from '../server/artifact-door.ts';
import { type Gate, startGateServer } from '../server/gate.ts';
import { startPeerServer } from '../server/peer.ts';
import { type PeerLeaderOptions, peerLeader } from '../server/peer-leader.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ArgocdDoor } from '../worker/argocd-door.ts';
import { FluxDoor } from '../worker/flux-door.ts';
import { windowLimitMs } from '../worker/flux-windows.ts';
import { GateDesk } from '../worker/gate-desk.ts';
import type { Mirror } from '../worker/mirror-spec.ts';
import { PluginDesk } from '../worker/plugin-desk.ts';
import { sharedCheckouts } from './shared-checkouts.ts';
import { makeToken, readToken } from './token-file.ts';

/** What answers while this replica leads. */
export interface Doors {
  readonly gate: Gate;
  readonly flux: FluxDoor;
  stop(): void;
}

export interface DoorParts {
  readonly kube: KubeClient;
  readonly config: Config;
  readonly mirror: Mirror;
  readonly controllers: Controllers;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
}

export function openDoors(parts: DoorParts): Doors {
  const { kube, config, mirror, controllers, metrics, log, clock } = parts;
  const desk = new GateDesk({
    mirror,
    targets: (repository) => controllers.gateTargets(repository),
    clock,
    log,
    counted({ applier }, answer, durationMs) {
      const { decision } = answer;
      metrics.count('gate_decisions_total', { applier, decision, reason: reasonOf(answer) });
      metrics.observe('gate_duration_seconds', { applier, decision }, durationMs / 1000);
    },
  });
  const events = new EventRecorder({ client: kube, instance: config.identity ?? '', clock });
  const flux = new FluxDoor({
    client: kube,
    desk,
    clock,
    log,
    ready: () => controllers.ready(),
    record: (event) => events.record(event),
    passed: (source, commit) => controllers.artifactPassed(source, commit),
  });
  const argocd = new ArgocdDoor({ client: kube, desk, clock, log, record: (event) => events.record(event) });
  controllers.attach(argocd);
  const forget = mirror.onChange((target) => {
    const branch = mirror.observe(target)?.branch;
    if (branch === undefined || branch.failure !== undefined || branch.halt !== undefined) return;
    flux.lookAgain();
    argocd.lookAgain();
  });
  if (config.artifactBindAddress !== undefined) flux.start();
  const plugins = new PluginDesk({
    client: kube,
    mirror,
    targets: (repository) => controllers.gateTargets(repository),
    ask: (question, deadlineMs) => ask(desk, question, deadlineMs),
    ready: () => config.gateTokenFile !== undefined && controllers.ready(),
    checkouts: sharedCheckouts(config, clock, log),
    clock,
    log,
  });
  return {
    gate: gateOf(desk, plugins, mirror, controllers, clock),
    flux,
    stop() {
      forget();
      flux.stop();
      argocd.stop();
      void plugins.stop();
    },
  };
}

function gateOf(
  desk: GateDesk,
  plugins: PluginDesk,
  mirror: Mirror,
  controllers: Controllers,
  clock: Clock,
): Gate {
  return {
    ask(question, deadlineMs) {
      const renders = question.applier === 'argocd' && question.phase === 'render';
      return renders ? plugins.answer(question, deadlineMs) : ask(desk, question, deadlineMs);
    },
    async flush(target, deadlineMs) {
      if (mirror.observe(target) === undefined) return undefined;
      return await mirror.flush(target, clock.now() + deadlineMs);
    },
    ready: () => controllers.ready(),
  };
}

async function ask(desk: GateDesk, question: GateQuestion, deadlineMs: number): Promise<GateAnswer> {
  const { applier, application, phase, revision } = question;
  const { namespace, name } = application;
  const { answer, mark } = await desk.ask(question, { deadlineMs, appliers: [`${namespace}/${name}`] });
  if (phase !== 'render') {
    // Nobody tells us here when the apply ends, so its window runs out by itself.
    const holder = { kind: applier === 'flux' ? 'Flux' : 'ArgoCD', namespace, name } as const;
    mark?.open({ holder, revision, limitMs: windowLimitMs });
  }
  mark?.drop();
  return answer;
}

function reasonOf(answer: GateAnswer): string {
  if (answer.decision === 'closed') return answer.reason;
  return answer.decision === 'open' && !answer.covered ? 'uncovered' : '';
}

export type StartedDoors =
  | {
      readonly kind: 'ok';
      /** What the Lease says of this replica while it leads. */
      readonly annotations: Readonly<Record<string, string>>;
      stop(): Promise<void>;
    }
  | { readonly kind: 'failed'; readonly message: string };

/** `HOST:PORT` of the leader's peer listener; empty when it has none. */
const peerAddress = 'configbutler.ai/peer-address';

/** While this replica does not lead, what comes to its listeners is asked of the one that does. */
export async function startDoors(options: {
  readonly config: Config;
  readonly version: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly leading: () => Doors | undefined;
  readonly holder: () => LeaseHolder | undefined;
}): Promise<StartedDoors> {
  const { config, version, log, metrics, leading, holder } = options;
  const { gateBindAddress, gateTokenFile, artifactBindAddress, peerBindAddress, peerTokenFile } = config;
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, tlsCaFile: caFile } = config;
  const tls = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
  const gate = () => leading()?.gate;
  const door = () => leading()?.flux;
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.map((one) => one()));
  };
  let peer: { readonly token: () => Promise<string>; readonly port: number } | undefined;
  if (peerBindAddress !== undefined && peerTokenFile !== undefined) {
    const token = () => readToken(peerTokenFile);
    const started = await startPeerServer({ address: peerBindAddress, tls, token, gate, door, version, log });
    if (started.kind === 'failed') return started;
    stops.push(started.stop);
    peer = { token, port: started.port };
  }
  const leader =
    peer === undefined
      ? undefined
      : peerLeader({
          leader: () => recordOf(holder()),
          token: peer.token,
          tls: tls === undefined || caFile === undefined ? undefined : { caFile, serverName: nameOf(config) },
          log,
          counted: (call, result) => metrics.count('gate_forwarded_total', { call, result }),
        });
  if (gateBindAddress !== undefined && gateTokenFile !== undefined) {
    if ((await makeToken(gateTokenFile)) === 'made')
      log.info({ gateTokenFile }, 'a token for the gate was made');
    const token = () => readToken(gateTokenFile);
    const started = await startGateServer({
      address: gateBindAddress,
      tls,
      token,
      gate,
      leader,
      version,
      log,
    });
    if (started.kind === 'failed') {
      await stop();
      return started;
    }
    stops.push(started.stop);
  }
  if (artifactBindAddress !== undefined) {
    const { sourceControllerUrl, sourceWatcherUrl } = config;
    const started = await startArtifactDoor({
      address: artifactBindAddress,
      sourceControllerUrl,
      sourceWatcherUrl,
      door: () => door() ?? leader,
      log,
    });
    if (started.kind === 'failed') {
      await stop();
      return started;
    }
    stops.push(started.stop);
  }
  const annotations = { [peerAddress]: peer === undefined ? '' : advertised(config, peer.port) };
  return { kind: 'ok', annotations, stop };
}

function recordOf(holder: LeaseHolder | undefined): ReturnType<PeerLeaderOptions['leader']> {
  return holder && { identity: holder.identity, address: holder.annotation(peerAddress) };
}

/** Where other replicas reach this one. */
function advertised({ podIp, peerBindAddress }: Config, port: number): string {
  const host = podIp ?? peerBindAddress?.host ?? '';
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The name of the Service, which the certificate of every replica is for. */
function nameOf({ namespace }: Config): string {
  return `gitops-reverser.${namespace}.svc`;
}
