/** The objects of Argo CD that tests make and read: its own ConfigMaps, and Applications. */
import { kubectl } from './kubectl.ts';
import { until } from './wait.ts';

/** Namespace, ConfigMaps and Secret of an installation. Its informers see only what carries the label. */
export function baseObjects(
  namespace: string,
  config: Readonly<Record<string, string>>,
  serverSecret: string,
): object[] {
  const metadata = (name: string) => ({
    name,
    namespace,
    labels: { 'app.kubernetes.io/part-of': 'argocd' },
  });
  const configMap = (name: string, data: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata(name),
    data,
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    configMap('argocd-cm', config),
    configMap('argocd-rbac-cm', {}),
    configMap('argocd-ssh-known-hosts-cm', {}),
    configMap('argocd-tls-certs-cm', {}),
    configMap('argocd-gpg-keys-cm', {}),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('argocd-secret'),
      stringData: { 'server.secretkey': serverSecret },
    },
  ];
}

export interface ApplicationOptions {
  readonly name: string;
  readonly repoURL: string;
  readonly path: string;
  readonly targetRevision?: string;
  /** Namespace the objects go to; the name of the Application when it is not told. */
  readonly destination?: string;
  /** Name of a config management plugin that renders it. */
  readonly plugin?: string;
  readonly syncPolicy?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An Application of the project `default` in the namespace `argocd`, synced by hand unless `syncPolicy` says else. */
export function application(options: ApplicationOptions): object {
  const { name, repoURL, path, targetRevision = 'main', destination = name, plugin, syncPolicy } = options;
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: 'argocd', annotations: options.annotations ?? {} },
    spec: {
      project: 'default',
      source: { repoURL, path, targetRevision, ...(plugin !== undefined && { plugin: { name: plugin } }) },
      destination: { server: 'https://kubernetes.default.svc', namespace: destination },
      ...(syncPolicy !== undefined && { syncPolicy }),
    },
  };
}

/** The parts of an Application's status that tests look at. */
export interface ApplicationState {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly operation?: object;
  readonly status?: {
    readonly sync?: { readonly status?: string; readonly revision?: string };
    readonly health?: { readonly status?: string };
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
    readonly operationState?: {
      readonly phase?: string;
      readonly message?: string;
      readonly finishedAt?: string;
      readonly syncResult?: {
        readonly revision?: string;
        readonly resources?: readonly {
          readonly kind: string;
          readonly name: string;
          readonly status?: string;
          readonly message?: string;
          readonly hookType?: string;
          readonly hookPhase?: string;
        }[];
      };
    };
    readonly history?: readonly { readonly revision: string }[];
  };
}

type Cluster = Parameters<typeof kubectl>[0];

export async function readApplication(cluster: Cluster, name: string): Promise<ApplicationState> {
  const { code, stdout, stderr } = await kubectl(cluster, [
    ...['get', 'application', name, '-n', 'argocd', '-o', 'json'],
  ]);
  if (code !== 0) throw new Error(`Application ${name}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Waits until an Application is as told, and returns it; a failure shows its status. */
export async function untilApplication(
  cluster: Cluster,
  name: string,
  what: string,
  wanted: (application: ApplicationState) => boolean,
): Promise<ApplicationState> {
  let last: ApplicationState | undefined;
  return until(
    `Application ${name} ${what}`,
    async () => {
      last = await readApplication(cluster, name);
      return wanted(last) ? last : undefined;
    },
    { timeoutMs: 120_000, intervalMs: 200 },
  ).catch((error: Error) => {
    const { sync, operationState, conditions } = last?.status ?? {};
    throw new Error(`${error.message}\n${JSON.stringify({ sync, operationState, conditions }, null, 1)}`);
  });
}
