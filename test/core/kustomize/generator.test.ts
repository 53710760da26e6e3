/** Live ConfigMaps back into the inputs of their generators. */
import assert from 'node:assert/strict';
import { apply, edit, open, removal, type Texts } from './folders.ts';

const texts: Texts = {
  'app/kustomization.yaml': `configMapGenerator:
  - name: files
    namespace: one
    files:
      - conf/app.ini
      - key.txt=conf/other.txt
  - name: files
    namespace: two
    literals: [a=1]
  - name: envs
    envs: [app.env]
  - name: lits
    literals:
      - a=1 # first
      - b=two
  - name: hashed
    literals: [x=1]
    options: {disableNameSuffixHash: false}
secretGenerator:
  - name: hidden
    literals: [p=q]
resources: [web.yaml]
generatorOptions:
  labels: {made: "yes"}
`,
  'app/conf/app.ini': 'a=1\nb=2\n',
  'app/conf/other.txt': 'other',
  'app/app.env': '# settings\nHOST=a\nPORT=1\n',
  'app/web.yaml': `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: web
      envFrom: [{configMapRef: {name: hashed}}]
`,
};
const stable: Texts = {
  ...texts,
  'app/kustomization.yaml': `${texts['app/kustomization.yaml']}  disableNameSuffixHash: true\n`,
};

describe('a generated ConfigMap', () => {
  it('is edited in a file, a line of an env file or a literal', async () => {
    const overlay = await open(stable, 'app');
    const outcome = await apply(stable, overlay, [
      edit(overlay, 'ConfigMap', 'envs', (one) => {
        one.set('data.PORT', '2');
        one.set('data.MORE', 'x');
      }),
      edit(overlay, 'ConfigMap', 'lits', (one) => {
        one.set('data.a', '5');
        one.set('data.c', 'three');
        one.remove('data.b');
      }),
    ]);
    assert.deepEqual(outcome.refused, []);
    assert.deepEqual(Object.keys(outcome.changed), ['app/app.env', 'app/kustomization.yaml']);
    assert.equal(outcome.changed['app/app.env'], '# settings\nHOST=a\nPORT=2\nMORE=x\n');
    assert.match(
      outcome.changed['app/kustomization.yaml'] ?? '',
      /literals:\n {6}- a=5 # first\n {6}- c=three\n/,
    );
  });

  it('is told from another of its name by the namespace', async () => {
    const overlay = await open(stable, 'app');
    const [one, two] = overlay.builds.flatMap(({ objects }) =>
      objects.filter(({ id }) => id.name === 'files'),
    );
    assert.ok(one && two);
    const first = edit(overlay, 'ConfigMap', 'lits', () => undefined);
    const data = { ...(two.value.data as object), a: '9' };
    const change = {
      ...first,
      key: '/ConfigMap/two/files',
      edit: { ...first.edit, object: two, wanted: { ...two.value, data } },
    };
    const outcome = await apply(stable, overlay, [change]);
    assert.deepEqual(outcome.refused, []);
    assert.equal(
      outcome.changed['app/kustomization.yaml'],
      stable['app/kustomization.yaml']?.replace('literals: [a=1]', 'literals: [a=9]'),
    );
  });

  it('with a hash in its name is found again, and what names it may follow', async () => {
    const overlay = await open(texts, 'app');
    const name = overlay.builds[0]?.objects.find(({ id }) => id.name.startsWith('hashed-'))?.id.name ?? '';
    const outcome = await apply(texts, overlay, [
      edit(overlay, 'ConfigMap', name, (one) => one.set('data.x', '2')),
    ]);
    assert.deepEqual(outcome.refused, []);
    assert.match(outcome.changed['app/kustomization.yaml'] ?? '', /literals: \[x=2\]/);
    const after = await open(outcome.texts, 'app');
    const id = { group: '', kind: 'ConfigMap', namespace: '', name };
    assert.equal(after.find(id, true).kind, 'earlier');
  });

  it('goes with its entry and its own inputs, in any order', async () => {
    for (const order of [
      ['envs', 'lits'],
      ['lits', 'envs'],
    ]) {
      const overlay = await open(stable, 'app');
      const outcome = await apply(
        stable,
        overlay,
        order.map((name) => removal(overlay, 'ConfigMap', name)),
      );
      assert.deepEqual(outcome.refused, []);
      assert.equal(outcome.texts['app/app.env'], undefined);
      assert.doesNotMatch(outcome.texts['app/kustomization.yaml'] ?? '', /name: (?:envs|lits)/);
    }
  });

  it('with an input that a release or another entry reads, too, is not written, and the file is kept', async () => {
    const shared: Texts = {
      ...stable,
      'app/kustomization.yaml': `${stable['app/kustomization.yaml']}`.replace(
        'resources: [web.yaml]',
        'resources: [web.yaml, release.yaml]',
      ),
      'app/release.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: rel}
spec: {chart: {spec: {chart: x, valuesFiles: [./app.env]}}}
`,
    };
    const overlay = await open(shared, 'app');
    const outcome = await apply(shared, overlay, [
      edit(overlay, 'ConfigMap', 'envs', (one) => one.set('data.PORT', '2')),
    ]);
    assert.deepEqual(outcome.changed, {});
    assert.match(outcome.refused.join(), /app\/app\.env is shared: app\/release\.yaml reads it, too/);
    const gone = await apply(shared, overlay, [removal(overlay, 'ConfigMap', 'envs')]);
    assert.deepEqual(gone.refused, []);
    assert.equal(gone.texts['app/app.env'], shared['app/app.env']);
  });

  it('a generated Secret is never edited', async () => {
    const overlay = await open(stable, 'app');
    const outcome = await apply(stable, overlay, [
      edit(overlay, 'Secret', 'hidden', (one) => one.set('data.p', 'eA==')),
    ]);
    assert.deepEqual(outcome.changed, {});
    assert.match(outcome.refused.join(), /UnsupportedKustomize: it is made by a SecretGenerator/);
  });
});
