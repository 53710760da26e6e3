import assert from 'node:assert/strict';
import { kindSchema, unexplained } from '../../../src/core/intent/schema/index.ts';
import type { Json, JsonObject, Path } from '../../../src/core/json.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('why a live field is there', () => {
  describe('the pull policy', () => {
    const always = [
      'web',
      'web:latest',
      `web:latest@${digest}`,
      'registry.example.test:5000/shop/web',
      'a/b/c',
    ];
    const ifNotPresent = ['web:1.2', `web@${digest}`, `web:1@${digest}`, `\${IMAGE}`, 'shop/Web', 'web:', ''];
    for (const [policy, images] of [
      ['Always', always],
      ['IfNotPresent', ifNotPresent],
    ] as const) {
      for (const image of images) {
        it(`of "${image}" is ${policy}`, () => {
          const live = deployment({ containers: [{ name: 'web', image, imagePullPolicy: policy }] });
          const document = deployment({ containers: [{ name: 'web', image }] });
          assert.deepEqual(paths(live, document), []);
          const other = policy === 'Always' ? 'IfNotPresent' : 'Always';
          const edited = deployment({ containers: [{ name: 'web', image, imagePullPolicy: other }] });
          assert.deepEqual(paths(edited, document), ['spec.template.spec.containers.0.imagePullPolicy']);
        });
      }
    }

    it('outlives a change of the image', () => {
      const live = deployment({ containers: [{ name: 'web', image: 'web:1.2', imagePullPolicy: 'Always' }] });
      const document = deployment({ containers: [{ name: 'web', image: 'web:1.2' }] });
      const before = deployment({ containers: [{ name: 'web', image: 'web' }] });
      const path = ['spec', 'template', 'spec', 'containers', 0, 'imagePullPolicy'];
      const field = { live, path, document, documentPath: path.slice(0, -1) };
      const schema = kindSchema('apps/v1', 'Deployment');
      assert.equal(schema.explain(field), undefined);
      assert.deepEqual(schema.explain({ ...field, before }), { kind: 'default' });
      assert.equal(schema.explain({ ...field, before: document }), undefined);
    });
  });

  describe('service accounts', () => {
    const container = { name: 'web', image: 'web:1' };

    it('have two names for one field', () => {
      const live = deployment({ containers: [container], serviceAccount: 'a', serviceAccountName: 'a' });
      assert.deepEqual(paths(live, deployment({ containers: [container], serviceAccount: 'a' })), []);
      assert.deepEqual(paths(live, deployment({ containers: [container], serviceAccountName: 'a' })), []);
    });

    it('do not explain each other away in a new manifest', () => {
      const live = deployment({ serviceAccount: 'a', serviceAccountName: 'a' });
      assert.deepEqual(paths(live, { apiVersion: 'apps/v1', kind: 'Deployment' }), [
        'spec.template.spec.serviceAccountName',
      ]);
    });

    it('are the namespace default in a real Pod only', () => {
      const spec = { serviceAccount: 'default', serviceAccountName: 'default' };
      const pod = (inner: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'Pod', spec: inner });
      assert.deepEqual(paths(pod(spec), pod({})), []);
      assert.equal(paths(deployment(spec), deployment({})).length, 2);
    });
  });

  it('a template is not a Pod', () => {
    const inner = {
      enableServiceLinks: true,
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: [
        {
          key: 'node.kubernetes.io/not-ready',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
      ],
    };
    const pod = (spec: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'Pod', spec });
    assert.deepEqual(paths(pod(inner), pod({})), []);
    assert.equal(paths(deployment(inner), deployment({})).length, 7);
    const job = (spec: JsonObject): JsonObject => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      spec: { jobTemplate: { spec: { template: { spec } } } },
    });
    assert.deepEqual(paths(job({ dnsPolicy: 'ClusterFirst' }), job({})), []);
    const cron: JsonObject = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      spec: { jobTemplate: { spec: { backoffLimit: 6 } } },
    };
    assert.deepEqual(paths(cron, { ...cron, spec: { jobTemplate: { spec: {} } } }), [
      'spec.jobTemplate.spec.backoffLimit',
    ]);
  });

  it('an edit of one member of a defaulted object is that edit alone', () => {
    const spec = (maxSurge: Json): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: '25%' } } },
    });
    const document = { apiVersion: 'apps/v1', kind: 'Deployment', spec: {} };
    assert.deepEqual(paths(spec('25%'), document), []);
    assert.deepEqual(paths(spec('50%'), document), ['spec.strategy.rollingUpdate.maxSurge']);
  });

  describe('a Service', () => {
    it('keeps its target port when the port changes', () => {
      const live = service({ ports: [{ name: 'web', port: 81, protocol: 'TCP', targetPort: 80 }] });
      const document = service({ ports: [{ name: 'web', port: 81 }] });
      assert.deepEqual(paths(live, document), ['spec.ports.0.targetPort']);
      assert.deepEqual(paths(live, service({ ports: [{ name: 'web', port: 80 }] })), ['spec.ports.0.port']);
    });

    it('gets node ports and a traffic policy with its type', () => {
      const outside = { externalTrafficPolicy: 'Cluster', ports: [{ port: 80, nodePort: 30080 }] };
      const document = (type: string): JsonObject => service({ type, ports: [{ port: 80 }] });
      assert.deepEqual(paths(service({ type: 'NodePort', ...outside }), document('NodePort')), []);
      assert.deepEqual(paths(service({ type: 'ClusterIP', ...outside }), document('ClusterIP')), [
        'spec.externalTrafficPolicy',
        'spec.ports.0.nodePort',
      ]);
    });

    it('is headless because a person said so', () => {
      const live = service({ clusterIP: 'None', clusterIPs: ['None'] });
      assert.deepEqual(paths(live, service({ clusterIP: 'None' })), []);
      assert.ok(paths(live, service({})).includes('spec.clusterIP'));
      assert.deepEqual(paths(service({ clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] }), service({})), []);
    });

    it('is dual stack because a person said so, unless it is headless and selects nothing', () => {
      const dual = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' };
      assert.deepEqual(paths(service({ clusterIP: 'None', ...dual }), service({ clusterIP: 'None' })), []);
      assert.deepEqual(paths(service({ selector: { a: 'b' }, ...dual }), service({ selector: { a: 'b' } })), [
        'spec.ipFamilyPolicy',
      ]);
      assert.deepEqual(paths(service({ ipFamilyPolicy: 'PreferDualStack' }), service({})), [
        'spec.ipFamilyPolicy',
      ]);
    });
  });

  it('policy types are decided once', () => {
    const policy = (spec: JsonObject): JsonObject => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      spec,
    });
    const egress = [{ ports: [{ port: 53 }] }];
    assert.deepEqual(paths(policy({ policyTypes: ['Ingress'] }), policy({})), []);
    assert.deepEqual(paths(policy({ policyTypes: ['Ingress', 'Egress'], egress }), policy({ egress })), []);
    assert.deepEqual(paths(policy({ policyTypes: ['Ingress'], egress }), policy({ egress })), [
      'spec.policyTypes.0',
    ]);
  });

  it('a Job without both counts gets one completion', () => {
    const job = (spec: JsonObject): JsonObject => ({ apiVersion: 'batch/v1', kind: 'Job', spec });
    const live = job({ parallelism: 1, completions: 1 });
    assert.deepEqual(paths(live, job({})), []);
    assert.deepEqual(paths(live, job({ parallelism: 1 })), ['spec.completions']);
    const fresh = { apiVersion: 'batch/v1', kind: 'Job' };
    assert.deepEqual(paths(job({ parallelism: 3, completions: 1 }), fresh), [
      'spec.parallelism',
      'spec.completions',
    ]);
    assert.deepEqual(paths(live, fresh), []);
  });

  it('limits fill each other in', () => {
    const range = (limit: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind: 'LimitRange',
      spec: { limits: [limit] },
    });
    const document = range({ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } });
    const live = range({
      type: 'Container',
      max: { cpu: '2' },
      min: { memory: '1Mi' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1Mi' },
    });
    assert.deepEqual(paths(live, document), []);
    const changed = range({ type: 'Container', max: { cpu: '3' }, min: { memory: '1Mi' } });
    assert.ok(paths(live, changed).includes('spec.limits.0.default.cpu'));
  });

  it('a Secret holds what stringData said', () => {
    const secret = (fields: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'Secret', ...fields });
    const document = secret({ stringData: { a: 'häßlich', b: 'x' } });
    const live = secret({ type: 'Opaque', data: { a: 'aMOkw59saWNo', b: 'eA==' } });
    assert.deepEqual(paths(live, document), []);
    assert.deepEqual(paths(secret({ data: { a: 'aMOkw59saWNo', b: 'eQ==' } }), document), [
      'data.b',
      'stringData',
    ]);
    assert.deepEqual(paths(secret({ data: { a: 'aMOkw59saWNo' } }), document), ['stringData']);
  });

  it('a volume without a source is an emptyDir, and a person may write one', () => {
    const pod = (volumes: Json[]): JsonObject => deployment({ volumes });
    assert.deepEqual(paths(pod([{ name: 'a', emptyDir: {} }]), pod([{ name: 'a' }])), []);
    assert.deepEqual(paths(pod([{ name: 'a', emptyDir: { medium: 'Memory' } }]), pod([{ name: 'a' }])), [
      'spec.template.spec.volumes.0.emptyDir.medium',
    ]);
  });

  it('names of a definition follow its kind', () => {
    const crd = (names: JsonObject): JsonObject => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: { names: { kind: 'Shop', plural: 'shops', ...names } },
    });
    assert.deepEqual(paths(crd({ singular: 'shop', listKind: 'ShopList' }), crd({})), []);
    assert.deepEqual(paths(crd({ singular: 'store' }), crd({})), ['spec.names.singular']);
  });

  it('a claim made live keeps its class when it gets a manifest, and leaves it open when it has one', () => {
    const claim = (spec: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec,
    });
    const live = claim({ storageClassName: 'fast', volumeName: 'pv-1' });
    assert.deepEqual(paths(live, claim({ accessModes: [] })), []);
    assert.deepEqual(paths(live, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }), [
      'spec.storageClassName',
    ]);
  });

  it('rules of a kind hold for a version the table does not name', () => {
    const policy = { apiVersion: 'admissionregistration.k8s.io/v1beta1', kind: 'MutatingAdmissionPolicy' };
    assert.deepEqual(paths({ ...policy, spec: { failurePolicy: 'Fail' } }, { ...policy, spec: {} }), []);
  });

  it('a field of a container that the document gets as a whole is judged beside its live neighbours', () => {
    const live = deployment({
      containers: [
        { name: 'a', image: 'a:1' },
        { name: 'b', image: 'b', imagePullPolicy: 'Always', resources: {} },
      ],
    });
    const document = deployment({ containers: [{ name: 'a', image: 'a:1' }] });
    assert.deepEqual(paths(live, document), [
      'spec.template.spec.containers.1.name',
      'spec.template.spec.containers.1.image',
    ]);
  });

  it('status is never an edit', () => {
    const live = { apiVersion: 'v1', kind: 'Node', status: { phase: 'a' } };
    const schema = kindSchema('v1', 'Node');
    const field = {
      live,
      path: ['status', 'phase'],
      document: { status: { phase: 'b' } },
      documentPath: ['status'],
    };
    assert.deepEqual(schema.explain(field), { kind: 'computed' });
    assert.deepEqual(paths(live, { ...live, status: { phase: 'b' } }), []);
  });

  it('says why', () => {
    const kinds: [string, string, Path, Json, string][] = [
      ['v1', 'Service', ['spec', 'clusterIP'], '10.0.0.1', 'allocated'],
      ['v1', 'Service', ['spec', 'sessionAffinity'], 'None', 'default'],
      ['v1', 'Service', ['spec', 'ipFamilies'], ['IPv4'], 'computed'],
      [
        'apps/v1',
        'Deployment',
        ['metadata', 'annotations', 'deployment.kubernetes.io/revision'],
        '3',
        'controller',
      ],
      [
        'v1',
        'PersistentVolumeClaim',
        ['metadata', 'annotations', 'pv.kubernetes.io/bind-completed'],
        'yes',
        'controller',
      ],
      [
        'kustomize.toolkit.fluxcd.io/v1',
        'Kustomization',
        ['metadata', 'finalizers', 0],
        'finalizers.fluxcd.io',
        'controller',
      ],
      ['example.test/v1', 'Unknown', ['metadata', 'uid'], 'u', 'allocated'],
    ];
    for (const [apiVersion, kind, path, value, why] of kinds) {
      const live = path.reduceRight<Json>(
        (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
        value,
      );
      const field = { live: live as JsonObject, path, document: { spec: {} }, documentPath: undefined };
      assert.deepEqual(kindSchema(apiVersion, kind).explain(field), { kind: why }, path.join('.'));
    }
  });
});

function paths(live: JsonObject, document: JsonObject): string[] {
  const schema = kindSchema(String(live.apiVersion), String(live.kind));
  return unexplained(live, document, schema).map((path) => path.join('.'));
}

function deployment(spec: JsonObject): JsonObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', spec: { template: { spec } } };
}

function service(spec: JsonObject): JsonObject {
  return { apiVersion: 'v1', kind: 'Service', spec };
}
