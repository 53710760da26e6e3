/** The command lines of the control plane's three programs. */

/** The audit events of writes, as attribution needs them. */
export const writesPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    userGroups: ['system:nodes']
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
  - level: None
`;

/** Deployments get pods' parents, namespaces end, owned objects go with their owners, and roles like "edit" get rules. */
export const usualControllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'deployment-controller',
  'replicaset-controller',
  'clusterrole-aggregation-controller',
];

export function etcdFlags(dataDir: string, clientUrl: string, peerUrl: string): string[] {
  return [
    '--name=test',
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    // The data need not survive the machine, and every write waits for this.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

export interface ApiServerFiles {
  readonly certDir: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly serviceAccountKey: string;
  readonly tokenFile: string;
}

export function apiServerFlags(port: number, etcdUrl: string, files: ApiServerFiles): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${files.certDir}`,
    `--tls-cert-file=${files.certFile}`,
    `--tls-private-key-file=${files.keyFile}`,
    `--token-auth-file=${files.tokenFile}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // The endpoints of the "kubernetes" service may not be loopback addresses.
    '--endpoint-reconciler-type=none',
    '--profiling=false',
  ];
}

export function auditFlags(policyFile: string, webhookConfig: string, maxWait: string): string[] {
  return [
    `--audit-policy-file=${policyFile}`,
    `--audit-webhook-config-file=${webhookConfig}`,
    '--audit-webhook-mode=batch',
    `--audit-webhook-batch-max-wait=${maxWait}`,
  ];
}

export function controllerManagerFlags(
  kubeconfig: string,
  caFile: string,
  serviceAccountKey: string,
  controllers: readonly string[],
): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--root-ca-file=${caFile}`,
    `--service-account-private-key-file=${serviceAccountKey}`,
    `--controllers=${controllers.join(',')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
}
