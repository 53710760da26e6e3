/** The kinds the controllers look after, by name. */
import type { ClusterWatchRule } from '../api/cluster-watch-rule.ts';
import type { GitBranch } from '../api/git-branch.ts';
import type { GitProvider } from '../api/git-provider.ts';
import type { GitTarget } from '../api/git-target.ts';
import type { KubeProvider } from '../api/kube-provider.ts';
import type { WatchRule } from '../api/watch-rule.ts';

export interface Objects {
  GitProvider: GitProvider;
  GitBranch: GitBranch;
  KubeProvider: KubeProvider;
  GitTarget: GitTarget;
  WatchRule: WatchRule;
  ClusterWatchRule: ClusterWatchRule;
}

export type KindName = keyof Objects;
