/** The hand-written folder of the demo: the kind of files people keep comments and a house style in. */

export const namespace = 'shop';
export const folder = 'apps/shop';

export const files: Readonly<Record<string, string>> = {
  'README.md': '# Demo repository\n',
  [`${folder}/web.yaml`]: `# The shop's front end. Ask before you scale below 2.
apiVersion: apps/v1
kind: Deployment
metadata:
    name: web
    labels: { app: web,  tier: 'front' }
spec:
    replicas: 2    # two zones

    selector:
        matchLabels: { app: web }
    template:
        metadata:
            labels: { app: web }
        spec:
            containers:
                -   name: web
                    image: "registry.example/web:1.25"   # {"$imagepolicy": "flux-system:web"}
                    env:
                        # seconds
                        -   { name: TIMEOUT, value: "30" }
                        -   name: MODE
                            value: 'plain'
`,
  [`${folder}/settings.yaml`]: `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  # Shown on every page.
  banner: "Welcome"
  limits.json: |
    {
      "cart": 20,
      "wishlist": 50
    }
---
# Old price list, kept until the end of the quarter.
apiVersion: v1
kind: ConfigMap
metadata:
  name: prices
data:
  currency: EUR
`,
};

/** Namespace, repository and GitTarget of the folder that an applier works on beside the sidecar. */
export const guardedName = 'with-sidecar';

/** Who may mirror what from the cluster. */
export const provider: object = {
  apiVersion: 'configbutler.ai/v1alpha3',
  kind: 'KubeProvider',
  metadata: { name: 'default' },
  spec: {
    inCluster: {},
    allowedGitTargets: [{ consumerNamespaces: { from: 'Names', names: [namespace, guardedName] } }],
    // Applications of Argo CD live in a namespace of their own.
    allowCrossNamespace: { appliers: true },
  },
};

/** What mirrors everything in a namespace that the folder describes. */
export function mirrored(
  name: string,
  repositoryUrl: string,
  window: { readonly idleTimeout: string; readonly maxDuration: string },
): object[] {
  const apiVersion = 'configbutler.ai/v1alpha3';
  const metadata = { name, namespace: name };
  return [
    { apiVersion, kind: 'GitProvider', metadata, spec: { url: repositoryUrl, allowedBranches: ['main'] } },
    {
      apiVersion,
      kind: 'GitTarget',
      metadata,
      spec: { gitProviderRef: { name }, branch: 'main', path: folder, commit: { window } },
    },
    {
      apiVersion,
      kind: 'WatchRule',
      metadata,
      spec: {
        gitTargetRef: { name },
        rules: [
          { apiGroups: ['apps'], resources: ['deployments'] },
          { apiGroups: [''], resources: ['configmaps', 'services'] },
        ],
      },
    },
  ];
}
