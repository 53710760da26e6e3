import assert from 'node:assert/strict';
import { configMap, decide, deployment, edits, flux, read, result, widget } from './scene.ts';

describe('intent: three ways, per field', () => {
  const table: {
    name: string;
    handled: string;
    live: string;
    git: string;
    expected: string;
    overwritten?: string[];
  }[] = [
    { name: 'a live edit is set', handled: '{a: x}', live: '{a: y}', git: '{a: x}', expected: '{a: y}' },
    {
      name: 'an added entry is added last',
      handled: '{b: x}',
      live: '{a: y, b: x}',
      git: '{b: x}',
      expected: '{b: x, a: y}',
    },
    {
      name: 'a removed entry is removed',
      handled: '{a: x, b: y}',
      live: '{b: y}',
      git: '{a: x, b: y}',
      expected: '{b: y}',
    },
    {
      name: 'a field only Git changed is left to the applier',
      handled: '{a: x}',
      live: '{a: x}',
      git: '{a: z}',
      expected: '{a: z}',
    },
    {
      name: 'a field only Git added stays',
      handled: '{a: x}',
      live: '{a: y}',
      git: '{a: x, n: 1}',
      expected: '{a: y, n: 1}',
    },
    {
      name: 'a field only Git removed stays away',
      handled: '{a: x, b: x}',
      live: '{a: y, b: x}',
      git: '{a: x}',
      expected: '{a: y}',
    },
    {
      name: 'disjoint edits both survive',
      handled: '{a: x, b: x}',
      live: '{a: y, b: x}',
      git: '{a: x, b: z}',
      expected: '{a: y, b: z}',
    },
    {
      name: 'changed on both sides, live wins',
      handled: '{a: x}',
      live: '{a: y}',
      git: '{a: z}',
      expected: '{a: y}',
      overwritten: ['data.a'],
    },
    {
      name: 'changed to the same on both sides is nothing',
      handled: '{a: x}',
      live: '{a: y}',
      git: '{a: y}',
      expected: '{a: y}',
    },
    {
      name: 'removed live, changed in Git: live wins',
      handled: '{a: x, b: x}',
      live: '{b: x}',
      git: '{a: z, b: x}',
      expected: '{b: x}',
      overwritten: ['data.a'],
    },
    {
      name: 'changed live, removed in Git: live wins',
      handled: '{a: x, b: x}',
      live: '{a: y, b: x}',
      git: '{b: x}',
      expected: '{b: x, a: y}',
      overwritten: ['data.a'],
    },
    {
      name: 'removed on both sides is nothing',
      handled: '{a: x, b: x}',
      live: '{b: x}',
      git: '{b: x}',
      expected: '{b: x}',
    },
    {
      name: 'the last entry goes, the map is empty',
      handled: '{a: x}',
      live: '{}',
      git: '{a: x}',
      expected: '{}',
    },
    {
      name: 'Git alone added an entry to a map that went away',
      handled: '{a: x}',
      live: 'null',
      git: '{a: x, n: 1}',
      expected: '{n: 1}',
    },
    {
      name: 'keys with dots are one key',
      handled: '{a.b: x, a: q}',
      live: '{a.b: y, a: q}',
      git: '{a.b: x, a: q}',
      expected: '{a.b: y, a: q}',
    },
    {
      name: 'text that looks like a quantity is text',
      handled: '{cpu: "1"}',
      live: '{cpu: "1000m"}',
      git: '{cpu: "1"}',
      expected: '{cpu: "1000m"}',
    },
  ];
  for (const { name, expected, overwritten = [], ...scene } of table) {
    it(name, () => {
      const maps = {
        handled: configMap(scene.handled),
        live: configMap(scene.live),
        git: configMap(scene.git),
      };
      const intent = decide(maps);
      assert.deepEqual(result(maps)?.data ?? null, read(configMap(expected)).data);
      assert.deepEqual(
        Object.keys(result(maps)?.data ?? {}),
        Object.keys(read(configMap(expected)).data ?? {}),
      );
      const lost = intent.kind === 'edit' ? intent.overwritten.map(({ where }) => where) : [];
      assert.deepEqual(lost, overwritten);
    });
  }

  it('names the smallest field that changed', () => {
    const scene = (image: string, replicas: number) =>
      deployment(
        `{replicas: ${replicas}}`,
        `{containers: [{name: side, image: s}, {name: web, image: "${image}"}]}`,
      );
    assert.deepEqual(edits({ handled: scene('web:1', 2), live: scene('web:2', 3), git: scene('web:1', 2) }), {
      'spec.replicas': [2, 3],
      'spec.template.spec.containers[web].image': ['web:1', 'web:2'],
    });
  });

  it('says nothing when only the order of keys or the spelling changed', () => {
    const git = deployment('{}', '{containers: [{name: web, image: w, resources: {limits: {cpu: 1000m}}}]}');
    const live = deployment('{}', '{containers: [{image: w, name: web, resources: {limits: {cpu: "1"}}}]}');
    assert.equal(decide({ handled: live, live, git }).kind, 'none');
    assert.equal(decide({ live, git }).kind, 'none');
    assert.equal(decide({ live, git, mirror: true }).kind, 'none');
  });

  it('keeps integers beyond 2^53 exact', () => {
    const object = (value: bigint) => ({ ...read(widget('{}')), spec: { limit: value } });
    const git = object(9007199254740993n);
    assert.equal(decide({ handled: git, live: object(9007199254740993n), git }).kind, 'none');
    assert.deepEqual(edits({ handled: git, live: object(9007199254740995n), git }), {
      'spec.limit': [9007199254740993n, 9007199254740995n],
    });
  });

  it('treats null in the file as absent and leaves it', () => {
    const git = widget('{a: null, b: 1}');
    assert.deepEqual(result({ handled: widget('{b: 1}'), live: widget('{b: 2}'), git })?.spec, {
      a: null,
      b: 2,
    });
    assert.deepEqual(result({ handled: widget('{b: 1}'), live: widget('{a: 3, b: 1}'), git })?.spec, {
      a: 3,
      b: 1,
    });
  });

  it('writes an empty map that a person set, and leaves one the server drops', () => {
    const policy = (spec: string) =>
      `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: shop}\nspec: ${spec}\n`;
    const scene = {
      handled: policy('{podSelector: {matchLabels: {a: b}}, policyTypes: [Ingress]}'),
      live: policy('{podSelector: {}, policyTypes: [Ingress]}'),
      git: policy('{podSelector: {matchLabels: {a: b}}}'),
    };
    assert.deepEqual(result(scene)?.spec, { podSelector: {} });
    const dropped = { handled: widget('{a: 1}'), live: widget('{a: 2}'), git: widget('{a: 1, list: []}') };
    assert.deepEqual(result(dropped)?.spec, { a: 2, list: [] });
  });

  it('swaps one source of a volume for another', () => {
    const pod = (volume: string) =>
      deployment('{}', `{containers: [{name: web, image: w}], volumes: [{name: tmp, ${volume}}]}`);
    const scene = {
      handled: pod('emptyDir: {}'),
      git: pod('emptyDir: {}'),
      live: pod('configMap: {name: c, defaultMode: 420}'),
    };
    assert.deepEqual(edits(scene), {
      'spec.template.spec.volumes[tmp].emptyDir': [{}, undefined],
      'spec.template.spec.volumes[tmp].configMap': [undefined, { name: 'c' }],
    });
    assert.deepEqual(edits({ live: scene.live, git: scene.git, mirror: true }), edits(scene));
  });

  it('takes an atomic map as one value: a reference never mixes two', () => {
    const pod = (reference: string) =>
      deployment(
        '{}',
        `{containers: [{name: web, image: w, env: [{name: A, valueFrom: {secretKeyRef: ${reference}}}]}]}`,
      );
    const scene = {
      handled: pod('{name: old, key: k}'),
      live: pod('{name: old, key: live}'),
      git: pod('{name: new, key: k}'),
    };
    const intent = decide(scene);
    assert.ok(intent.kind === 'edit');
    assert.deepEqual(result(scene), pod('{name: old, key: live}'));
    assert.deepEqual(
      intent.overwritten.map(({ where }) => where),
      ['spec.template.spec.containers[web].env[A].valueFrom.secretKeyRef.name'],
    );
  });

  it('writes a rollout restart into the template and nothing of the bookkeeping above it', () => {
    const bare = deployment('{}');
    const live = deployment('{}');
    live.metadata = {
      ...read(live.metadata),
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    };
    const template = read(read(live.spec).template);
    const annotations = { 'kubectl.kubernetes.io/restartedAt': 'now' };
    template.metadata = { labels: { app: 'web' }, annotations };
    live.spec = { ...read(live.spec), template };
    assert.deepEqual(edits({ handled: bare, live, git: bare }), {
      'spec.template.metadata.annotations': [undefined, annotations],
    });
  });

  it('ignores an object that waits for its end', () => {
    const live = read(configMap('{a: y}'));
    const ending = {
      ...live,
      metadata: { name: 'rates', namespace: 'shop', deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    assert.equal(
      decide({ handled: configMap('{a: x}'), live: ending, git: configMap('{a: x}') }).kind,
      'none',
    );
    assert.equal(decide({ live: ending }).kind, 'none');
  });

  it('leaves unowned fields of the file alone, stated or not, in a mirror as well', () => {
    const git = read(`apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  finalizers: [resources-finalizer.argocd.argoproj.io]
  labels: {kustomize.toolkit.fluxcd.io/name: apps, team: a}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec: {clusterIP: 10.0.0.9, ports: [{port: 80}]}
status: {loadBalancer: {}}
`);
    const live = {
      ...read('apiVersion: v1\nkind: Service'),
      metadata: { name: 'web', namespace: 'shop', labels: { team: 'b' } },
      spec: { clusterIP: '10.0.0.77', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
    };
    for (const mirror of [true, false]) {
      assert.deepEqual(edits({ live, git, mirror }), { 'metadata.labels.team': ['a', 'b'] });
    }
  });
});

describe('intent: a document Git no longer has', () => {
  const object = (data: string) => configMap(data);

  it('is not added again when live is unchanged since', () => {
    const intent = decide({ handled: object('{a: x}'), live: object('{a: x}') });
    assert.deepEqual(intent, { kind: 'gone-in-git', desired: undefined, fields: [], notices: [] });
  });

  it('is not added again when only the applier changed it', () => {
    const owners = { [flux]: { 'f:data': { 'f:a': {} } } };
    const intent = decide({ handled: object('{a: x}'), live: object('{a: y}'), owners });
    assert.ok(intent.kind === 'gone-in-git');
    assert.equal(intent.desired, undefined);
  });

  it('comes back as it is live when an edit was pending', () => {
    const owners = { [flux]: { 'f:data': { 'f:b': {} } }, 'kubectl-edit': { 'f:data': { 'f:a': {} } } };
    const intent = decide({ handled: object('{a: x, b: x}'), live: object('{a: y, b: x}'), owners });
    assert.ok(intent.kind === 'gone-in-git');
    assert.deepEqual(intent.desired, read(object('{a: y, b: x}')));
    assert.deepEqual(
      intent.notices.map(({ code }) => code),
      ['RestoredAfterGitDelete'],
    );
    assert.deepEqual(
      intent.fields.map(({ where }) => where),
      ['data.a'],
    );
  });

  it('is judged by the revisions the applier applied when nothing was handled', () => {
    const owners = { [flux]: { 'f:data': { 'f:a': {} } } };
    const kept = decide({ live: object('{a: x}'), candidates: [object('{a: x}')], owners });
    assert.ok(kept.kind === 'gone-in-git');
    assert.equal(kept.desired, undefined);
    const edited = decide({ live: object('{a: live}'), candidates: [object('{a: x}')], owners });
    assert.ok(edited.kind === 'gone-in-git');
    assert.deepEqual(edited.desired, read(object('{a: live}')));
  });
});
