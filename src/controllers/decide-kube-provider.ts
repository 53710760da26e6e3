/** Whether a KubeProvider's connection settings can be used. Pure; nothing is dialled. */
import { kubeProviderConditions } from '../api/conditions.ts';
import type { KubeConfigReason } from '../kube/kubeconfig.ts';
import { contributor, type Decision, type Gate, gatesOf, holds } from './gates.ts';

const { gate, ready } = gatesOf(kubeProviderConditions);

export type Connection =
  | { readonly kind: 'in-cluster' }
  | { readonly kind: 'kubeconfig' }
  | {
      readonly kind: 'refused';
      readonly reason: KubeConfigReason | 'KubeConfigSecretNotFound' | 'KubeConfigKeyNotFound';
      readonly message: string;
    };

export function decideKubeProvider(connection: Connection): Decision {
  const validated = validatedGate(connection);
  return {
    gates: [validated],
    contributors: [holds(validated) ? ready('Succeeded', validated.message) : contributor(validated)],
  };
}

function validatedGate(connection: Connection): Gate {
  switch (connection.kind) {
    case 'in-cluster':
      return gate('Validated', 'InCluster', 'the cluster the sidecar runs in');
    case 'kubeconfig':
      return gate('Validated', 'Succeeded', 'the kubeconfig can be used');
    case 'refused':
      return gate('Validated', connection.reason, connection.message);
  }
}
