/** The question to the gate, made of the environment that Argo CD gives to a plugin's commands. */
import type { GateQuestion } from '../core/gate/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type PluginQuestion =
  | { readonly kind: 'question'; readonly question: GateQuestion }
  /** The source is no Git repository, so no live edit can be written there. */
  | { readonly kind: 'no-commit'; readonly revision: string }
  /** Argo CD did not start this; `missing` are the variables it sets. */
  | { readonly kind: 'no-plugin'; readonly missing: readonly string[] };

const commitShape = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const needed = ['ARGOCD_APP_NAME', 'ARGOCD_APP_REVISION', 'ARGOCD_APP_SOURCE_REPO_URL'] as const;

/**
 * @param namespace of Argo CD itself: an Application there comes without its namespace, others as `namespace_name`. (No name
 *   of Kubernetes holds an underscore. ARGOCD_APP_NAMESPACE is where the objects go.)
 */
export function questionOf(environment: Environment, namespace: string): PluginQuestion {
  const missing = needed.filter((name) => (environment[name] ?? '') === '');
  if (missing.length > 0) return { kind: 'no-plugin', missing };
  const revision = environment.ARGOCD_APP_REVISION ?? '';
  if (!commitShape.test(revision)) return { kind: 'no-commit', revision };
  const name = environment.ARGOCD_APP_NAME ?? '';
  const split = name.indexOf('_');
  const application =
    split < 0 ? { namespace, name } : { namespace: name.slice(0, split), name: name.slice(split + 1) };
  return {
    kind: 'question',
    question: {
      applier: 'argocd',
      application,
      repoURL: environment.ARGOCD_APP_SOURCE_REPO_URL ?? '',
      targetRevision: environment.ARGOCD_APP_SOURCE_TARGET_REVISION ?? '',
      revision,
      path: environment.ARGOCD_APP_SOURCE_PATH ?? '',
      phase: 'render',
    },
  };
}
