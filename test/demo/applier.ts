/** What applies folders in the demo: the real Flux or the real Argo CD, started beside the demo's own API server. */
import { readFileSync } from 'node:fs';
import { argocdConfig } from '../../src/api/lua.ts';
import { startArgocd } from '../cluster/argocd.ts';
import { application, untilApplication } from '../cluster/argocd-objects.ts';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { startFlux } from '../cluster/flux.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { type PartName, part } from '../cluster/parts.ts';
import { until } from '../cluster/wait.ts';
import { folder } from './folder.ts';
import { shown } from './print.ts';

export const applierNames = ['flux', 'argocd'] as const;
export type ApplierName = (typeof applierNames)[number];

export interface Applier {
  readonly title: string;
  /** What makes it ask the sidecar, for the folder that is guarded. */
  readonly doorFiles: Readonly<Record<string, string>>;
  /** What makes it apply a folder of a repository to the namespace of the same name. */
  objects(name: string, url: string, guarded: boolean): object[];
  /** Asks it, as a person does, to apply the newest commit now. */
  ask(name: string): Promise<void>;
  /** Waits until it has applied a commit and is content. */
  applied(name: string, commit: string): Promise<void>;
  stop(): Promise<void>;
}

const patience = { timeoutMs: 120_000, intervalMs: 100 };
const neededParts: Readonly<Record<ApplierName, PartName>> = {
  flux: 'kustomize-controller',
  argocd: 'argocd-server',
};

/** Why it cannot be shown; undefined when it can. */
export function applierMissing(name: ApplierName): string | undefined {
  try {
    part(neededParts[name]);
    return undefined;
  } catch {
    return `bash test/cluster/build.sh ${name}`;
  }
}

/** @param door `host:port` of the sidecar's artifact door */
export function startApplier(name: ApplierName, cluster: ControlPlane, door: string): Promise<Applier> {
  return name === 'flux' ? flux(cluster, door) : argocd(cluster);
}

async function flux(cluster: ControlPlane, door: string): Promise<Applier> {
  const running = await startFlux(cluster, { door });
  return {
    title: 'Flux',
    doorFiles: {},
    objects(name, url, guarded) {
      const metadata = { name, namespace: name, labels: { door: guarded ? 'guarded' : 'none' } };
      return [
        {
          apiVersion: 'source.toolkit.fluxcd.io/v1',
          kind: 'GitRepository',
          metadata,
          spec: { url, interval: '1h', ref: { branch: 'main' } },
        },
        {
          apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
          kind: 'Kustomization',
          metadata,
          spec: {
            interval: '1h',
            path: `./${folder}`,
            prune: true,
            targetNamespace: name,
            sourceRef: { kind: 'GitRepository', name },
          },
        },
      ];
    },
    async ask(name) {
      const stamp = `reconcile.fluxcd.io/requestedAt=${new Date().toISOString()}`;
      const args = ['annotate', '--overwrite', 'gitrepository', name, '-n', name, stamp];
      shown(`kubectl ${args.join(' ')}   # what "flux reconcile" does`);
      await must(cluster, args);
    },
    async applied(name, commit) {
      await until(
        `Flux has applied ${commit} to ${name}`,
        async () => {
          const path =
            'jsonpath={.status.lastAppliedRevision} {.status.conditions[?(@.type=="Ready")].status}';
          const status = await must(cluster, ['get', 'kustomization', name, '-n', name, '-o', path]);
          return status === `main@sha1:${commit} True`;
        },
        patience,
      );
    },
    stop: running.stop,
  };
}

async function argocd(cluster: ControlPlane): Promise<Applier> {
  const running = await startArgocd(cluster, { config: argocdConfig() });
  return {
    title: 'Argo CD',
    doorFiles: { [`${folder}/gate.yaml`]: readFileSync('manifests/samples/syncgate.yaml', 'utf8') },
    objects: (name, repoURL) => [application({ name, repoURL, path: folder })],
    async ask(name) {
      // Without --async the CLI now and then waits for a refresh that has come already.
      shown(`argocd app sync ${name} --async`);
      const { code, stdout, stderr } = await running.cli('app', 'sync', name, '--async');
      if (code !== 0) throw new Error(`argocd app sync ${name}: ${stderr}${stdout}`);
    },
    async applied(name, commit) {
      await untilApplication(cluster, name, `is synced to ${commit}`, ({ operation, status }) => {
        const state = status?.operationState;
        return (
          operation === undefined && state?.phase === 'Succeeded' && state.syncResult?.revision === commit
        );
      });
    },
    stop: running.stop,
  };
}

async function must(cluster: ControlPlane, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(cluster, args);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}
