/** Reading our kinds for people: with their own kubeconfig and rights, and with errors that say what to do. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type GitBranch, gitBranch } from '../api/git-branch.ts';
import { type GitTarget, gitTarget } from '../api/git-target.ts';
import { apiGroup, apiVersion, apiVersionName } from '../api/group.ts';
import type { JsonObject } from '../core/json.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import type { KubeFailure } from '../kube/result.ts';
import { ApiServerConfig, createTransport } from '../kube/transport.ts';
import { BadInput } from './bad-input.ts';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface PersonCluster {
  readonly client: KubeClient;
  /** Of the context; `default` when it names none. */
  readonly namespace: string;
}

export const targets = { group: apiGroup, version: apiVersionName, resource: 'gittargets' } as const;
const branches = { group: apiGroup, version: apiVersionName, resource: 'gitbranches' } as const;
const deadlineMs = 15_000;

/** Opens the cluster that a person's kubeconfig names. Throws BadInput. */
export function personCluster({ kubeconfig, context }: ClusterOptions, version: string): PersonCluster {
  const paths = (kubeconfig ?? process.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const path = paths.find((one) => existsSync(one)) ?? paths[0] ?? join(homedir(), '.kube', 'config');
  if (!existsSync(path)) throw new BadInput(`there is no kubeconfig ${path}; name one with --kubeconfig`);
  const open = (): ApiServerConfig => {
    const config = new ApiServerConfig();
    config.loadFromFile(path);
    if (context !== undefined) config.setCurrentContext(context);
    return config;
  };
  const config = read(open, path);
  const current = config.getContextObject(config.getCurrentContext());
  if (current === null || config.getCurrentCluster() === null) {
    const names = config.getContexts().map(({ name }) => name);
    const known = names.length === 0 ? 'it has none' : `it has ${names.slice(0, 20).join(', ')}`;
    throw new BadInput(
      `kubeconfig ${path} has no context ${JSON.stringify(config.getCurrentContext())}; ${known}`,
    );
  }
  const client = createKubeClient({
    transport: createTransport(open, systemClock),
    version,
    clock: systemClock,
    deadlineMs,
  });
  return { client, namespace: current.namespace ?? 'default' };
}

/** `NAMESPACE/NAME`. Throws BadInput. */
export function parseTargetName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (namespace === '' || name === '' || rest.length > 0 || /[^a-z0-9.-]/.test(`${namespace}${name}`)) {
    throw new BadInput(`${JSON.stringify(text)} is no NAMESPACE/NAME of a GitTarget`);
  }
  return { namespace, name };
}

export async function getTarget(client: KubeClient, namespace: string, name: string): Promise<GitTarget> {
  const answer = await client.get({ ...targets, namespace, name });
  if (answer.kind === 'ok') return parseTarget(answer.object);
  if (answer.kind === 'not-found') {
    // The same status tells of a missing object and of a missing CRD.
    const listed = await client.listAll({ ...targets, namespace }, { limit: 1 });
    if (listed.kind === 'ok') throw new BadInput(`there is no GitTarget ${namespace}/${name}`);
  }
  throw failed(answer);
}

export interface Listed {
  readonly targets: readonly GitTarget[];
  /** The namespace that was read; '' for all. */
  readonly namespace: string;
}

/** Every GitTarget, or those of the context's namespace for somebody who may not see all. */
export async function listTargets({ client, namespace }: PersonCluster): Promise<Listed> {
  const all = await client.listAll({ ...targets, namespace: '' });
  if (all.kind === 'ok') return { targets: all.items.map(parseTarget), namespace: '' };
  if (all.kind !== 'forbidden') throw failed(all);
  const own = await client.listAll({ ...targets, namespace });
  if (own.kind !== 'ok') throw failed(own);
  return { targets: own.items.map(parseTarget), namespace };
}

/** What is known of the branches; nothing for somebody who may not see them. */
export async function listBranches(client: KubeClient, namespace: string): Promise<GitBranch[]> {
  const answer = await client.listAll({ ...branches, namespace });
  if (answer.kind === 'forbidden') return [];
  if (answer.kind !== 'ok') throw failed(answer);
  return answer.items.flatMap((object) => {
    const parsed = gitBranch.safeParse(object);
    return parsed.success ? [parsed.data] : [];
  });
}

/** The GitBranch of a target. */
export function branchOf({ metadata, spec }: GitTarget, known: readonly GitBranch[]): GitBranch | undefined {
  return known.find(
    (branch) =>
      branch.metadata.namespace === metadata.namespace &&
      (spec.gitBranchRef === undefined
        ? branch.spec.gitProviderRef.name === spec.gitProviderRef?.name && branch.spec.branch === spec.branch
        : branch.metadata.name === spec.gitBranchRef.name),
  );
}

/** Why the API server said no, for a person. */
export function failed(failure: KubeFailure): BadInput {
  switch (failure.kind) {
    case 'not-found':
      return new BadInput(
        `the cluster does not serve GitTarget ${apiVersion}; install the CRDs: gitops-reverser crds | kubectl apply -f -`,
      );
    case 'forbidden':
      return new BadInput(`not allowed: ${failure.message}`);
    case 'unauthorized':
      return new BadInput(`the credentials of the kubeconfig are not accepted: ${failure.message}`);
    case 'unreachable':
      return new BadInput(`the cluster does not answer: ${failure.message}`);
    default:
      return new BadInput(failure.message);
  }
}

function parseTarget(object: JsonObject): GitTarget {
  const parsed = gitTarget.safeParse(object);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BadInput(
    `a GitTarget of the cluster does not fit this version: ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

// The parser's own message may quote the file, which holds credentials.
function read(open: () => ApiServerConfig, path: string): ApiServerConfig {
  try {
    return open();
  } catch (cause) {
    throw new BadInput(`kubeconfig ${path} cannot be read`, { cause });
  }
}
