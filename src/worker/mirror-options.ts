/** What one process gives its workers. */
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import type { MirrorCounts } from './counts.ts';
import type { RightOfWay } from './turns.ts';

export interface MirrorOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  /** Shared with whoever answers questions. */
  readonly rightOfWay: RightOfWay;
  readonly log: Log;
  readonly byteCap: number;
  readonly gitTimeoutMs: number;
  /** How often an idle remote is looked at; 0 = never. */
  readonly gitRefreshIntervalMs: number;
  readonly allowHttp: boolean;
  readonly allowMissingKnownHosts: boolean;
  /** `resource`, `group/resource` or `resource.group`, beside core Secrets. */
  readonly sensitiveResources: readonly string[];
  /** Path of the sops program, or its name in PATH. */
  readonly sops: string;
  /** The same for kustomize. */
  readonly kustomize: string;
  readonly counts: MirrorCounts;
}
