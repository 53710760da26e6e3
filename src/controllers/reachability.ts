/** Whether a source cluster answers; the reasons are those of the condition SourceClusterReachable. */
import type { gitTargetConditions } from '../api/conditions.ts';

export interface Reachability {
  readonly reason: keyof (typeof gitTargetConditions)['SourceClusterReachable']['reasons'];
  readonly message: string;
}

export function isReached({ reason }: Reachability): boolean {
  return reason === 'LocalCluster' || reason === 'SourceClusterReachable';
}
