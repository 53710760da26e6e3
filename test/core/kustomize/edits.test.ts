/** Where edits of built objects land. Every result was proved by the real kustomize. */
import assert from 'node:assert/strict';
import { apply, edit, open, removal, type Texts } from './folders.ts';

const deployment = (body = '') => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: registry.example.test/shop/web:1.4.0
          resources:
            limits: {memory: 256Mi}
${body}`;

const overlays: Texts = {
  'app/base/kustomization.yaml': 'resources: [deployment.yaml]\n',
  'app/base/deployment.yaml': deployment(),
  'app/prod/kustomization.yaml': `namespace: prod
resources: [../base]
patches:
  - path: memory.yaml
replicas:
  - {name: web, count: 3}
`,
  'app/prod/memory.yaml': `# agreed
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: web
          resources:
            limits:
              memory: 512Mi   # was less
`,
  'app/staging/kustomization.yaml': 'namespace: staging\nresources: [../base]\n',
};
const container = 'spec.template.spec.containers.web';

describe('edits of an overlay', () => {
  it('go to the patch and the entry that state the field', async () => {
    const overlay = await open(overlays, 'app/prod');
    const { changed, refused } = await apply(overlays, overlay, [
      edit(overlay, 'Deployment', 'web', (web) => {
        web.set('spec.replicas', 5);
        web.set(`${container}.resources.limits.memory`, '768Mi');
      }),
    ]);
    assert.deepEqual(refused, []);
    assert.deepEqual(Object.keys(changed), ['app/prod/kustomization.yaml', 'app/prod/memory.yaml']);
    assert.match(changed['app/prod/kustomization.yaml'] ?? '', /\{name: web, count: 5\}/);
    assert.match(changed['app/prod/memory.yaml'] ?? '', /memory: 768Mi {3}# was less/);
  });

  it('add an entry for an image that only the base states', async () => {
    const overlay = await open(overlays, 'app/prod');
    const { changed, refused } = await apply(overlays, overlay, [
      edit(overlay, 'Deployment', 'web', (web) =>
        web.set(`${container}.image`, 'registry.example.test/shop/web:1.5.0'),
      ),
    ]);
    assert.deepEqual(refused, []);
    assert.match(
      changed['app/prod/kustomization.yaml'] ?? '',
      /images:\n {2}- name: registry\.example\.test\/shop\/web\n {4}newTag: 1\.5\.0\n/,
    );
  });

  it('are written as a patch of our own where only the base states the field, merged, and taken away again', async () => {
    let overlay = await open(overlays, 'app/prod');
    const one = await apply(overlays, overlay, [
      edit(overlay, 'Deployment', 'web', (web) => {
        web.set('spec.minReadySeconds', 10);
        web.set(`${container}.env`, [{ name: 'A', value: '1' }]);
      }),
    ]);
    assert.deepEqual(one.refused, []);
    assert.deepEqual(Object.keys(one.changed), [
      'app/prod/deployment-web-edits.yaml',
      'app/prod/kustomization.yaml',
    ]);
    overlay = await open(one.texts, 'app/prod');
    const two = await apply(one.texts, overlay, [
      edit(overlay, 'Deployment', 'web', (web) => {
        web.set('spec.minReadySeconds', 20);
        web.set('spec.revisionHistoryLimit', 3);
      }),
    ]);
    assert.deepEqual(two.refused, []);
    assert.deepEqual(Object.keys(two.changed), ['app/prod/deployment-web-edits.yaml']);
    assert.match(two.changed['app/prod/deployment-web-edits.yaml'] ?? '', /minReadySeconds: 20/);
    overlay = await open(two.texts, 'app/prod');
    const three = await apply(two.texts, overlay, [
      edit(overlay, 'Deployment', 'web', (web) => {
        web.remove('spec.minReadySeconds');
        web.remove('spec.revisionHistoryLimit');
        web.remove(`${container}.env`);
      }),
    ]);
    assert.deepEqual(three.refused, []);
    assert.deepEqual(three.texts, overlays);
  });

  it('delete an inherited object by a patch', async () => {
    const overlay = await open(overlays, 'app/prod');
    const { changed, refused } = await apply(overlays, overlay, [removal(overlay, 'Deployment', 'web')]);
    assert.deepEqual(refused, []);
    assert.match(changed['app/prod/deployment-web-delete.yaml'] ?? '', /\$patch: delete/);
  });
});
