/** An overlay with every layer an edit can land in, for the tests beside the real appliers. */

export const repository = (namespace: string): Record<string, string> => ({
  'apps/base/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  revisionHistoryLimit: 5 # enough to go back
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: registry.example/web
          envFrom:
            - configMapRef:
                name: settings
`,
  'apps/base/kustomization.yaml': 'resources:\n  - web.yaml\n',
  'apps/prod/hosts.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: hosts
data:
  # Filled in for each cluster.
  host: web.\${DOMAIN:=localhost}
  path: /shop
`,
  'apps/prod/kustomization.yaml': `namespace: ${namespace}
resources:
  - ../base
  - hosts.yaml
# The version that production runs.
images:
  - name: registry.example/web
    newTag: "1.0"
replicas:
  - name: web
    count: 2
configMapGenerator:
  - name: settings
    literals:
      - LEVEL=info
`,
});
