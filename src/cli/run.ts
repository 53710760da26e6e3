/** `run`: the process itself. Wires the rooms, takes the Lease, and stops gracefully. */
import { hostname } from 'node:os';
import { Command } from 'commander';
import { addConfigOptions, type Config, parseConfig } from '../config.ts';
import { type Controllers, startControllers } from '../controllers/manager.ts';
import type { KubeClient } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import { LeaseElection } from '../kube/lease.ts';
import { startObserveServers } from '../server/observe.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { createMirror } from '../worker/mirror.ts';
import type { Mirror } from '../worker/mirror-spec.ts';
import { RightOfWay } from '../worker/turns.ts';
import { garbageCollector } from './collect-garbage.ts';
import { controlCluster } from './control-cluster.ts';
import { type Doors, openDoors, startDoors } from './doors.ts';
import { mirrorCounts } from './mirror-counts.ts';
import { version } from './version.ts';

const leaseName = 'gitops-reverser';

export function runCommand(): Command {
  const command = new Command('run').description('run the sidecar: watch live edits and publish them to Git');
  return addConfigOptions(command).action(async (options: Record<string, unknown>) => {
    const parsed = parseConfig(options);
    if (!parsed.ok) {
      for (const problem of parsed.problems) console.error(`gitops-reverser run: ${problem}`);
      process.exitCode = 2;
      return;
    }
    process.exitCode = await run(parsed.config);
  });
}

/** Runs until a signal; a lost Lease ends the process where it stands. Returns the exit code. */
async function run(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel });
  const metrics = createMetrics({ process: true });
  const cluster = controlCluster(config.kubeconfig, version, systemClock);
  if (!cluster.ok) {
    log.error({ reason: 'KubeConfigInvalid' }, cluster.message);
    return 2;
  }
  let leading: Leading | undefined;
  const listening = await startObserveServers({
    metricsAddress: config.metricsBindAddress,
    healthAddress: config.healthBindAddress,
    metrics,
    // A follower is ready to take over; a leader is ready once it knows our kinds.
    ready: () => leading === undefined || leading.controllers.ready(),
    log,
  });
  if (listening.kind === 'failed') {
    log.error(listening.message);
    return 2;
  }
  let election: LeaseElection | undefined;
  const doors = await startDoors({
    config,
    version,
    log,
    metrics,
    leading: () => leading?.doors,
    holder: () => election?.holder,
  });
  if (doors.kind === 'failed') {
    log.error(doors.message);
    await listening.servers.stop();
    return 2;
  }
  log.info({ version, cluster: cluster.source, dataDir: config.dataDir }, 'gitops-reverser starts');

  const ended = Promise.withResolvers<void>();
  const identity = config.identity ?? `${hostname()}-${process.pid}`;
  const lead = () => {
    leading ??= start(cluster.client, config, metrics, log);
  };
  // Everything is published and nothing runs any more: giving the Lease back is no loss.
  let steppingDown = false;
  election = new LeaseElection({
    client: cluster.client,
    namespace: config.namespace,
    name: leaseName,
    identity,
    annotations: doors.annotations,
    onGained() {
      log.info({ identity }, 'this replica leads and writes');
      lead();
    },
    onLost() {
      if (steppingDown) return;
      // Another replica may write from now on: nothing of ours may go out any more, so the process ends at once.
      log.error({ identity }, 'leadership is lost; this replica stops and starts anew as a follower');
      process.exit(1);
    },
  });
  if (config.leaderElect) void election.run();
  else lead();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping: publishing what is pending');
      ended.resolve();
    });
  }

  await ended.promise;
  const unpublished = leading === undefined ? 0 : await stop(leading, config, log);
  steppingDown = true;
  if (config.leaderElect) await election.stop();
  await Promise.all([listening.servers.stop(), doors.stop()]);
  await cluster.client.close();
  log.info({ unpublished }, 'gitops-reverser ended');
  return 0;
}

interface Leading {
  readonly mirror: Mirror;
  readonly controllers: Controllers;
  readonly doors: Doors;
}

function start(kube: KubeClient, config: Config, metrics: Metrics, log: Log): Leading {
  const mirror = createMirror({
    dataDir: config.dataDir,
    clock: systemClock,
    rightOfWay: new RightOfWay(systemClock),
    log,
    byteCap: config.branchBufferMaxSize,
    gitTimeoutMs: config.gitTimeout,
    gitRefreshIntervalMs: config.gitRefreshInterval,
    allowHttp: config.insecureAllowGitHttp,
    allowMissingKnownHosts: config.insecureAllowMissingKnownHosts,
    sensitiveResources: config.additionalSensitiveResources,
    sops: config.sops,
    kustomize: config.kustomize,
    counts: mirrorCounts(metrics, garbageCollector(systemClock)),
  });
  const controllers = startControllers({ kube, config, mirror, log, metrics, clock: systemClock, version });
  const doors = openDoors({ kube, config, mirror, controllers, metrics, log, clock: systemClock });
  return { mirror, controllers, doors };
}

async function stop({ mirror, controllers, doors }: Leading, config: Config, log: Log): Promise<number> {
  doors.stop();
  const unpublished = await mirror.stop(systemClock.now() + config.shutdownTimeout);
  await controllers.stop();
  if (unpublished > 0) {
    log.warn(
      { unpublished },
      'some edits could not be published in time; they are found again at the next start',
    );
  }
  return unpublished;
}
