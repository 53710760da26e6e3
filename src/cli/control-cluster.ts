/** The client of the cluster our own kinds live in: from a kubeconfig, or from the pod. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { type KubeConfigSource, loadKubeConfig } from '../kube/kubeconfig.ts';
import { createTransport } from '../kube/transport.ts';

export type ControlCluster =
  | { readonly ok: true; readonly client: KubeClient; readonly source: string }
  | { readonly ok: false; readonly message: string };

/** The operator's own file: it may run programs and read files, as for kubectl. */
const trusted = { allowExec: true, allowInsecureTLS: true, allowFileReferences: true };

/** @param kubeconfig a path; a list of paths as in $KUBECONFIG gives the first that exists */
export function controlCluster(
  kubeconfig: string | undefined,
  version: string,
  clock: Clock,
): ControlCluster {
  const source = sourceOf(kubeconfig);
  const first = loadKubeConfig(source, trusted);
  if (!first.ok) return { ok: false, message: `${nameOf(source)}: ${first.message}` };
  const open = () => {
    const again = loadKubeConfig(source, trusted);
    if (!again.ok) throw new Error(`${nameOf(source)}: ${again.message}`);
    return again.config;
  };
  const client = createKubeClient({ transport: createTransport(open, clock), version, clock });
  return { ok: true, client, source: nameOf(source) };
}

function sourceOf(kubeconfig: string | undefined): KubeConfigSource {
  const named = kubeconfig ?? process.env.KUBECONFIG;
  if (named !== undefined && named !== '') {
    const paths = named.split(delimiter).filter((path) => path !== '');
    return { from: 'file', path: paths.find((path) => existsSync(path)) ?? paths[0] ?? named };
  }
  if (process.env.KUBERNETES_SERVICE_HOST !== undefined) return { from: 'in-cluster' };
  return { from: 'file', path: join(homedir(), '.kube', 'config') };
}

function nameOf(source: KubeConfigSource): string {
  return source.from === 'file' ? `kubeconfig ${source.path}` : 'the service account of the pod';
}
