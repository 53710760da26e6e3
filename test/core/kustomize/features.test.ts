/** Feature by feature: what is editable, what stays read-only, and that nothing else moves. */
import assert from 'node:assert/strict';
import { apply, type Editable, edit, type Outcome, open, removal, type Texts } from './folders.ts';

const deployment = (name: string, image = 'web:1.4.0', extra = '') => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
        - name: ${name}
          image: ${image}
${extra}`;

async function change(
  texts: Texts,
  folder: string,
  name: string,
  how: (object: Editable) => void,
): Promise<Outcome> {
  const overlay = await open(texts, folder);
  return await apply(texts, overlay, [edit(overlay, 'Deployment', name, how)]);
}

describe('in a kustomization of the folder itself', () => {
  it('names, namespace, labels and annotations stay out of the document', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': `namespace: shop
namePrefix: a-
nameSuffix: -z
labels: [{pairs: {stage: prod}}]
commonAnnotations: {team: shop}
resources: [web.yaml]
`,
      'app/web.yaml': deployment('web'),
    };
    const outcome = await change(texts, 'app', 'a-web-z', (web) => {
      web.set('metadata.labels.own', 'yes');
      web.set('spec.replicas', 4);
    });
    assert.deepEqual(outcome.refused, []);
    assert.deepEqual(outcome.changed, {
      'app/web.yaml': deployment('web')
        .replace('metadata: {name: web}', 'metadata: {name: web, labels: {own: "yes"}}')
        .replace('app: web}\n', 'app: web}\n')
        .concat('')
        .replace('spec:\n  selector', 'spec:\n  selector')
        .replace('          image: web:1.4.0\n', '          image: web:1.4.0\n  replicas: 4\n'),
    });
  });

  it('an edit of an injected label is refused and names what may set it', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': 'labels: [{pairs: {stage: prod}}]\nresources: [web.yaml]\n',
      'app/web.yaml': deployment('web'),
    };
    const outcome = await change(texts, 'app', 'web', (web) => web.set('metadata.labels.stage', 'test'));
    assert.deepEqual(outcome.changed, {});
    assert.match(
      outcome.refused.join(),
      /RenderRefused: .*metadata\.labels\.stage.*labels of app\/kustomization\.yaml/,
    );
  });

  it('what a JSON6902 or an inline patch sets is read-only, and everything else is editable', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': `resources: [web.yaml]
patches:
  - target: {kind: Deployment}
    patch: |-
      - op: add
        path: /spec/replicas
        value: 2
  - patch: |-
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec: {minReadySeconds: 5}
`,
      'app/web.yaml': deployment('web'),
    };
    for (const field of ['spec.replicas', 'spec.minReadySeconds']) {
      const outcome = await change(texts, 'app', 'web', (web) => web.set(field, 9));
      assert.deepEqual(outcome.changed, {}, field);
      assert.match(outcome.refused.join(), /RenderRefused/);
    }
    const other = await change(texts, 'app', 'web', (web) => web.set('spec.revisionHistoryLimit', 3));
    assert.deepEqual(other.refused, []);
    assert.deepEqual(Object.keys(other.changed), ['app/web.yaml']);
  });

  it('the old spellings of patches are followed, too', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': `bases: [base]
patchesStrategicMerge: [merge.yaml]
patchesJson6902:
  - target: {group: apps, version: v1, kind: Deployment, name: web}
    path: json.yaml
`,
      'app/base/kustomization.yaml': 'resources: [web.yaml]\n',
      'app/base/web.yaml': deployment('web'),
      'app/merge.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {minReadySeconds: 5}\n',
      'app/json.yaml': '- op: add\n  path: /spec/replicas\n  value: 2\n',
    };
    const merged = await change(texts, 'app', 'web', (web) => web.set('spec.minReadySeconds', 6));
    assert.deepEqual(Object.keys(merged.changed), ['app/merge.yaml']);
    const fixed = await change(texts, 'app', 'web', (web) => web.set('spec.replicas', 6));
    assert.deepEqual(fixed.changed, {});
    assert.match(fixed.refused.join(), /RenderRefused/);
    const other = await change(texts, 'app', 'web', (web) => web.set('spec.paused', true));
    assert.deepEqual(Object.keys(other.changed), ['app/base/web.yaml']);
  });

  it('one refused object does not hold up the others', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': 'labels: [{pairs: {stage: prod}}]\nresources: [a.yaml, b.yaml, c.yaml]\n',
      'app/a.yaml': deployment('a'),
      'app/b.yaml': deployment('b'),
      'app/c.yaml': deployment('c'),
    };
    const overlay = await open(texts, 'app');
    const outcome = await apply(texts, overlay, [
      edit(overlay, 'Deployment', 'a', (a) => a.set('spec.replicas', 2)),
      edit(overlay, 'Deployment', 'b', (b) => b.set('metadata.labels.stage', 'test')),
      edit(overlay, 'Deployment', 'c', (c) => c.set('spec.replicas', 3)),
    ]);
    assert.equal(outcome.refused.length, 1);
    assert.deepEqual(Object.keys(outcome.changed), ['app/a.yaml', 'app/c.yaml']);
  });

  it('two objects of one image entry are edited together, and one alone is refused', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': 'resources: [a.yaml, b.yaml]\nimages: [{name: web, newTag: "1.4.0"}]\n',
      'app/a.yaml': deployment('a'),
      'app/b.yaml': deployment('b'),
    };
    const overlay = await open(texts, 'app');
    const image = (name: string) =>
      edit(overlay, 'Deployment', name, (one) =>
        one.set(`spec.template.spec.containers.${name}.image`, 'web:2'),
      );
    const both = await apply(texts, overlay, [image('a'), image('b')]);
    assert.deepEqual(both.refused, []);
    assert.deepEqual(both.changed, {
      'app/kustomization.yaml': 'resources: [a.yaml, b.yaml]\nimages: [{name: web, newTag: "2"}]\n',
    });
    const one = await apply(texts, overlay, [image('a')]);
    assert.deepEqual(one.changed, {});
    assert.match(one.refused.join(), /RenderRefused: Deployment\.apps\/b would change, too/);
  });

  it('a digest takes the place of a tag in the entry that gives it', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': 'resources: [web.yaml]\nimages:\n  - name: web\n    newTag: "1.5" # pinned\n',
      'app/web.yaml': deployment('web'),
    };
    const digest = `sha256:${'0'.repeat(64)}`;
    const outcome = await change(texts, 'app', 'web', (web) =>
      web.set('spec.template.spec.containers.web.image', `web@${digest}`),
    );
    assert.deepEqual(outcome.refused, []);
    assert.match(
      outcome.changed['app/kustomization.yaml'] ?? '',
      new RegExp(`name: web\n {4}digest: ${digest}\n$`),
    );
  });

  it('a name from an entry and a tag from the document go to their own places', async () => {
    const texts: Texts = {
      'app/kustomization.yaml':
        'resources: [web.yaml]\nimages: [{name: web, newName: host.example.test/web}]\n',
      'app/web.yaml': deployment('web'),
    };
    const outcome = await change(texts, 'app', 'web', (web) =>
      web.set('spec.template.spec.containers.web.image', 'host.example.test/web:1.5.0'),
    );
    assert.deepEqual(outcome.refused, []);
    assert.deepEqual(outcome.changed, { 'app/web.yaml': deployment('web', 'web:1.5.0') });
  });
});

describe('in an overlay with its base elsewhere', () => {
  const base: Texts = {
    'base/kustomization.yaml':
      'namePrefix: b-\nimages: [{name: web, newTag: "1.5.0"}]\nresources: [web.yaml]\n',
    'base/web.yaml': deployment('web', 'web:1.4.0', '          args: ["--a", "--b"]\n'),
    'prod/kustomization.yaml': 'namespace: prod\nnamePrefix: p-\nresources: [../base]\n',
    'test/kustomization.yaml': 'namespace: test\nresources: [../base]\n',
  };

  it('a tag that an entry of the base gives gets an entry of the overlay', async () => {
    const outcome = await change(base, 'prod', 'p-b-web', (web) =>
      web.set('spec.template.spec.containers.web.image', 'web:1.6.0'),
    );
    assert.deepEqual(outcome.refused, []);
    assert.match(
      outcome.changed['prod/kustomization.yaml'] ?? '',
      /images:\n {2}- name: web\n {4}newTag: 1\.6\.0\n$/,
    );
  });

  it('a field, a removed field, a new container and a whole list become one small patch', async () => {
    const outcome = await change(base, 'prod', 'p-b-web', (web) => {
      web.set('spec.template.spec.containers.web.args', ['--a', '--c']);
      web.push('spec.template.spec.containers', { name: 'side', image: 'side:1' });
      web.remove('spec.template.metadata.labels.app');
      web.set('spec.template.metadata.labels.app', 'web');
      web.set('spec.paused', true);
    });
    assert.deepEqual(outcome.refused, []);
    assert.deepEqual(Object.keys(outcome.changed), [
      'prod/deployment-web-edits.yaml',
      'prod/kustomization.yaml',
    ]);
    assert.equal(
      outcome.changed['prod/kustomization.yaml'],
      'namespace: prod\nnamePrefix: p-\nresources: [../base]\npatches:\n  - path: deployment-web-edits.yaml\n',
    );
  });

  it('the order of a list that has one is kept', async () => {
    const texts: Texts = {
      ...base,
      'base/web.yaml': deployment(
        'web',
        'web:1.4.0',
        '          env: [{name: A, value: a}, {name: B, value: b}]\n',
      ),
    };
    const env = 'spec.template.spec.containers.web.env';
    const changes: readonly ((object: Editable) => void)[] = [
      (web) => web.push(env, { name: 'C', value: 'c' }),
      (web) =>
        web.set(env, [
          { name: 'B', value: 'b' },
          { name: 'A', value: 'a' },
        ]),
      (web) =>
        web.set(env, [
          { name: 'C', value: 'c' },
          { name: 'A', value: 'a' },
        ]),
    ];
    for (const how of changes) {
      const outcome = await change(texts, 'prod', 'p-b-web', how);
      assert.deepEqual(outcome.refused, []);
      assert.deepEqual(Object.keys(outcome.changed), [
        'prod/deployment-web-edits.yaml',
        'prod/kustomization.yaml',
      ]);
      const again = await change(outcome.texts, 'prod', 'p-b-web', (web) => web.set(`${env}.A.value`, 'z'));
      assert.deepEqual(again.refused, []);
      assert.deepEqual(Object.keys(again.changed), ['prod/deployment-web-edits.yaml']);
      const back = await change(again.texts, 'prod', 'p-b-web', (web) =>
        web.set(env, [
          { name: 'A', value: 'a' },
          { name: 'B', value: 'b' },
        ]),
      );
      assert.deepEqual(back.refused, []);
      assert.deepEqual(back.texts, texts);
    }
  });

  it('a list of a custom kind, whose keys kustomize does not know, is written as a whole', async () => {
    const texts: Texts = {
      ...base,
      'base/kustomization.yaml': 'resources: [gauge.yaml]\n',
      'base/gauge.yaml':
        'apiVersion: example.test/v1\nkind: Gauge\nmetadata: {name: g}\nspec:\n  points: [{name: a, at: 1}, {name: b, at: 2}]\n',
    };
    const overlay = await open(texts, 'prod');
    const outcome = await apply(texts, overlay, [
      edit(overlay, 'Gauge', 'p-g', (gauge) => gauge.set('spec.points.b.at', 3)),
    ]);
    assert.deepEqual(outcome.refused, []);
    const again = await open(outcome.texts, 'prod');
    const back = await apply(outcome.texts, again, [
      edit(again, 'Gauge', 'p-g', (gauge) => gauge.set('spec.points.b.at', 2)),
    ]);
    assert.deepEqual(back.refused, []);
    assert.deepEqual(back.texts, texts);
  });

  it('documents of one file are taken away one by one, and the file and its entry with the last', async () => {
    const texts: Texts = {
      'app/kustomization.yaml': 'resources: [all.yaml, ../base]\n',
      'app/all.yaml': `# both\n${deployment('a')}---\n${deployment('b')}`,
      'base/kustomization.yaml': 'resources: [web.yaml]\n',
      'base/web.yaml': deployment('web'),
    };
    const overlay = await open(texts, 'app');
    const one = await apply(texts, overlay, [removal(overlay, 'Deployment', 'a')]);
    assert.deepEqual(one.changed, { 'app/all.yaml': deployment('b') });
    const both = await apply(texts, overlay, [
      removal(overlay, 'Deployment', 'b'),
      edit(overlay, 'Deployment', 'web', (web) => web.set('spec.replicas', 2)),
      removal(overlay, 'Deployment', 'a'),
    ]);
    assert.deepEqual(both.refused, []);
    assert.deepEqual(both.changed, {
      'app/all.yaml': undefined,
      'app/kustomization.yaml': 'resources: [../base]\nreplicas:\n  - count: 2\n    name: web\n',
    });
  });

  it('the base as the folder is refused: every overlay would change', async () => {
    const overlay = await open(base, 'base');
    const [first] = overlay.builds;
    assert.ok(first);
    const outcome = await apply(base, overlay, [
      edit(overlay, 'Deployment', 'b-web', (web) => web.set('spec.paused', true)),
    ]);
    assert.deepEqual(outcome.changed, {});
    assert.match(outcome.refused.join(), /WriteFanIn: base\/web\.yaml is also read by prod and test/);
  });

  it('a deleted object takes its replicas entry and our patch with it', async () => {
    const texts: Texts = {
      ...base,
      'prod/kustomization.yaml':
        'namespace: prod\nresources: [../base]\nreplicas: [{name: web, count: 3}]\npatches:\n  - path: deployment-web-edits.yaml\n',
      'prod/deployment-web-edits.yaml':
        '# Live edits that the base does not hold. Kept by gitops-reverser.\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  paused: true\n',
    };
    const overlay = await open(texts, 'prod');
    const outcome = await apply(texts, overlay, [removal(overlay, 'Deployment', 'b-web')]);
    assert.deepEqual(outcome.refused, []);
    assert.deepEqual(
      Object.keys(outcome.texts).filter((path) => path.startsWith('prod/')),
      ['prod/kustomization.yaml', 'prod/deployment-web-delete.yaml'],
    );
    assert.equal(
      outcome.texts['prod/kustomization.yaml'],
      'namespace: prod\nresources: [../base]\npatches:\n  - path: deployment-web-delete.yaml\n',
    );
  });

  it('a component of the folder is edited where it states the field', async () => {
    const texts: Texts = {
      ...base,
      'prod/kustomization.yaml': 'namespace: prod\nresources: [../base]\ncomponents: [extra]\n',
      'prod/extra/kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml}]\nresources: [cm.yaml]\n',
      'prod/extra/p.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {minReadySeconds: 5}\n',
      'prod/extra/cm.yaml': deployment('job'),
    };
    const overlay = await open(texts, 'prod');
    const outcome = await apply(texts, overlay, [
      edit(overlay, 'Deployment', 'b-web', (web) => web.set('spec.minReadySeconds', 6)),
      edit(overlay, 'Deployment', 'job', (job) => job.set('spec.minReadySeconds', 7)),
    ]);
    assert.deepEqual(outcome.refused, []);
    assert.deepEqual(Object.keys(outcome.changed), ['prod/extra/cm.yaml', 'prod/extra/p.yaml']);
  });

  it('a file of somebody else at the place of our patch is left alone', async () => {
    const texts: Texts = { ...base, 'prod/deployment-web-edits.yaml': 'mine: true\n' };
    const outcome = await change(texts, 'prod', 'p-b-web', (web) => web.set('spec.paused', true));
    assert.deepEqual(outcome.changed, {});
    assert.match(outcome.refused.join(), /WriteBoundaryRefused: prod\/deployment-web-edits\.yaml/);
  });
});

describe('a build that cannot be made', () => {
  const failures: readonly (readonly [Texts, RegExp])[] = [
    [{ 'app/kustomization.yaml': 'resources: [gone.yaml]\n' }, /BrokenKustomization .*gone\.yaml/],
    [
      { 'app/kustomization.yaml': 'resources: ["https://host.example.test/x"]\n' },
      /UnsupportedKustomize .*not in this repository/,
    ],
    [{ 'app/kustomization.yaml': 'helmCharts: [{name: x}]\n' }, /UnsupportedKustomize .*helmCharts/],
    [{ 'app/kustomization.yaml': 'nonsense: 1\n' }, /UnsupportedKustomize .*nonsense/],
    [
      {
        'app/kustomization.yaml': 'resources: [a.yaml, b.yaml]\n',
        'app/a.yaml': deployment('a'),
        'app/b.yaml': deployment('a'),
      },
      /BrokenKustomization .*already registered id|may not add/,
    ],
  ];
  it('refuses its own root and says why', async () => {
    for (const [texts, message] of failures) {
      const { failures: found, builds } = await open(texts, 'app');
      assert.deepEqual(builds, []);
      assert.match(found.map(({ reason, message: why }) => `${reason} ${why}`).join(), message);
    }
  });

  it('is not even tried where it could read files of the machine', async () => {
    const kustomizations = [
      'resources: [../../../etc/hostname]\n',
      'resources: [/etc/hostname]\n',
      'patches: [{path: /etc/hostname}]\n',
      'patchesStrategicMerge: [../../up.yaml]\n',
      'patchesJson6902: [{path: ../../up.yaml, target: {kind: X}}]\n',
      'configMapGenerator: [{name: a, files: [x=/etc/hostname]}]\n',
      'configMapGenerator: [{name: a, envs: [../../up.env]}]\n',
      'configMapGenerator: [{name: a, env: /etc/hostname}]\n',
      'secretGenerator: [{name: a, files: [../../up]}]\n',
      'configurations: [/etc/hostname]\n',
      'crds: [/etc/hostname]\n',
      'openapi: {path: /etc/hostname}\n',
      'replacements: [{path: /etc/hostname}]\n',
      'components: [/etc]\n',
      'generators: ["{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: a}, files: [/etc/hostname]}"]\n',
      'transformers: [t.yaml]\n',
      'validators: [t.yaml]\n',
      'helmGlobals: {chartHome: /etc}\n',
    ];
    const untouched = { build: async () => assert.fail('kustomize was asked') };
    for (const text of kustomizations) {
      const texts: Texts = { 'app/kustomization.yaml': text, 'app/t.yaml': 'a: 1\n' };
      const { failures: found } = await open(texts, 'app', { render: untouched });
      assert.equal(found.length, 1, text);
    }
  });
});
