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

/** What the demo mirrors: everything in one namespace that the folder describes. */
export function objects(repositoryUrl: string): object[] {
  const apiVersion = 'configbutler.ai/v1alpha3';
  const metadata = { name: 'shop', namespace };
  return [
    {
      apiVersion,
      kind: 'KubeProvider',
      metadata: { name: 'default' },
      spec: {
        inCluster: {},
        allowedGitTargets: [{ consumerNamespaces: { from: 'Names', names: [namespace] } }],
      },
    },
    { apiVersion, kind: 'GitProvider', metadata, spec: { url: repositoryUrl, allowedBranches: ['main'] } },
    {
      apiVersion,
      kind: 'GitTarget',
      metadata,
      spec: {
        gitProviderRef: { name: 'shop' },
        branch: 'main',
        path: folder,
        commit: { window: { idleTimeout: '1s', maxDuration: '10s' } },
      },
    },
    {
      apiVersion,
      kind: 'WatchRule',
      metadata,
      spec: {
        gitTargetRef: { name: 'shop' },
        rules: [
          { apiGroups: ['apps'], resources: ['deployments'] },
          { apiGroups: [''], resources: ['configmaps', 'services'] },
        ],
      },
    },
  ];
}
