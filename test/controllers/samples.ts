/** Objects of our kinds, as people write them. */

const apiVersion = 'configbutler.ai/v1alpha3';

export function gitProvider(name: string, url: string, spec: object = {}) {
  return {
    apiVersion,
    kind: 'GitProvider',
    metadata: { name, namespace: 'shop' },
    spec: { url, allowedBranches: ['main', 'env/*'], ...spec },
  };
}

export function kubeProvider(name: string, spec: object = {}) {
  return {
    apiVersion,
    kind: 'KubeProvider',
    metadata: { name },
    spec: {
      inCluster: {},
      allowedGitTargets: [{ consumerNamespaces: { from: 'Names', names: ['shop'] } }],
      ...spec,
    },
  };
}

export function gitTarget(name: string, path: string, spec: object = {}) {
  return {
    apiVersion,
    kind: 'GitTarget',
    metadata: { name, namespace: 'shop' },
    spec: { gitProviderRef: { name: 'git' }, branch: 'main', path, ...spec },
  };
}

export function watchRule(name: string, target: string, rules: object[]) {
  return {
    apiVersion,
    kind: 'WatchRule',
    metadata: { name, namespace: 'shop' },
    spec: { gitTargetRef: { name: target }, rules },
  };
}

export function clusterWatchRule(name: string, target: string, rules: object[]) {
  return {
    apiVersion,
    kind: 'ClusterWatchRule',
    metadata: { name },
    spec: { gitTargetRef: { name: target, namespace: 'shop' }, rules },
  };
}

export function secret(name: string, stringData: Readonly<Record<string, string>>, namespace = 'shop') {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData };
}

export const login = { username: 'alice', password: 'open sesame' } as const;
