import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import { decide, deployment, edits, flux, read, result } from './scene.ts';

const service = (spec: string) =>
  read(`apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: ${spec}`);

describe('intent: what the server fills in', () => {
  const filled = `{containers: [{name: web, image: "web:2", imagePullPolicy: IfNotPresent, resources: {},
    terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File,
    livenessProbe: {httpGet: {path: /live, port: 80, scheme: HTTP}, failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1},
    ports: [{containerPort: 80, protocol: TCP}]}],
    dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: GRACE}`;
  const rollout =
    '{replicas: 1, progressDeadlineSeconds: 600, revisionHistoryLimit: 10, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: SURGE, maxUnavailable: 25%}}}';
  const live = (grace = '30', surge = '25%') =>
    deployment(rollout.replace('SURGE', surge), filled.replace('GRACE', grace));
  const git = deployment(
    '{}',
    '{containers: [{name: web, image: "web:1", livenessProbe: {httpGet: {path: /live, port: 80}}, ports: [{containerPort: 80}]}]}',
  );

  it('stays out of the file, also inside probes and ports', () => {
    const image = { 'spec.template.spec.containers[web].image': ['web:1', 'web:2'] };
    assert.deepEqual(edits({ live: live(), git }), image);
    assert.deepEqual(edits({ live: live(), git, mirror: true }), image);
  });

  it('comes in where a person set another value, without its neighbours', () => {
    const fields = { 'spec.template.spec.terminationGracePeriodSeconds': [undefined, 60] };
    assert.deepEqual(edits({ handled: live(), live: live('60'), git }), fields);
    assert.deepEqual(edits({ handled: live(), live: live('30', '1'), git }), {
      'spec.strategy': [undefined, { rollingUpdate: { maxSurge: 1 } }],
    });
  });

  it('is written where the file states another value, and stays where the file states it', () => {
    const stating = deployment('{revisionHistoryLimit: 3, replicas: 1}');
    const from = deployment('{revisionHistoryLimit: 3, replicas: 1}');
    const to = deployment('{revisionHistoryLimit: 10, replicas: 1}');
    assert.deepEqual(edits({ handled: from, live: to, git: stating }), {
      'spec.revisionHistoryLimit': [3, 10],
    });
  });

  it('is told by the document after the edit: what goes with a new type is no edit', () => {
    const before = service('{type: ClusterIP, ports: [{port: 80, protocol: TCP, targetPort: 80}]}');
    const after = service(
      '{type: NodePort, externalTrafficPolicy: Cluster, ports: [{port: 80, protocol: TCP, targetPort: 80, nodePort: 30123}]}',
    );
    const stated = service('{ports: [{port: 80}]}');
    assert.deepEqual(edits({ handled: before, live: after, git: stated }), {
      'spec.type': [undefined, 'NodePort'],
    });
    assert.deepEqual(edits({ live: after, git: stated, mirror: true }), {
      'spec.type': [undefined, 'NodePort'],
    });
  });

  it('is an edit when a person chose what is allocated otherwise', () => {
    const live = service(
      '{type: NodePort, externalTrafficPolicy: Cluster, ports: [{port: 80, protocol: TCP, targetPort: 80, nodePort: 30080}]}',
    );
    const handled = service(
      '{type: NodePort, externalTrafficPolicy: Cluster, ports: [{port: 80, protocol: TCP, targetPort: 80, nodePort: 30123}]}',
    );
    const git = service('{type: NodePort, ports: [{port: 80}]}');
    const owners = {
      'kubectl-edit': { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:nodePort': {} } } } },
    };
    assert.deepEqual(edits({ handled, live, git, owners }), {
      'spec.ports[80].nodePort': [undefined, 30080],
    });
    assert.equal(decide({ handled, live, git, owners: { kubectl: { 'f:spec': {} } } }).kind, 'none');
  });

  it('is written when the edit turned it into something else: targetPort keeps the old port', () => {
    const handled = service('{ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}');
    const live = service('{ports: [{name: http, port: 81, protocol: TCP, targetPort: 80}]}');
    const fields = { 'spec.ports[http].port': [80, 81], 'spec.ports[http].targetPort': [undefined, 80] };
    const git = service('{ports: [{name: http, port: 80}]}');
    assert.deepEqual(edits({ handled, live, git }), fields);
    assert.deepEqual(edits({ live, git, mirror: true }), fields);
  });

  it('is written when the edit turned it into something else: policyTypes stays as it was', () => {
    const policy = (spec: string) =>
      read(
        `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: shop}\nspec: ${spec}`,
      );
    const live = policy('{podSelector: {}, ingress: [{}], egress: [{}], policyTypes: [Ingress]}');
    const handled = policy('{podSelector: {}, ingress: [{}], policyTypes: [Ingress]}');
    const git = policy('{podSelector: {}, ingress: [{}]}');
    const fields = { 'spec.egress': [undefined, [{}]], 'spec.policyTypes': [undefined, ['Ingress']] };
    assert.deepEqual(edits({ handled, live, git }), fields);
    assert.deepEqual(edits({ live, git, mirror: true }), fields);
  });

  it('may outlive its source: imagePullPolicy is decided once', () => {
    const pod = (image: string, policy: string) =>
      deployment(
        '{}',
        `{containers: [{name: web, image: "${image}"${policy === '' ? '' : `, imagePullPolicy: ${policy}`}}]}`,
      );
    const scene = { handled: pod('web', 'Always'), live: pod('web:1.2', 'Always'), git: pod('web', '') };
    assert.deepEqual(edits(scene), { 'spec.template.spec.containers[web].image': ['web', 'web:1.2'] });
    assert.deepEqual(edits({ ...scene, live: pod('web', 'Never') }), {
      'spec.template.spec.containers[web].imagePullPolicy': [undefined, 'Never'],
    });
  });

  describe('that outlived its source, with nothing handled', () => {
    const pod = (image: string, policy = '') =>
      deployment(
        '{}',
        `{containers: [{name: web, image: "${image}"${policy === '' ? '' : `, imagePullPolicy: ${policy}`}}]}`,
      );
    const owning = (...fields: string[]): JsonObject => {
      const container = Object.fromEntries(fields.map((field): [string, JsonObject] => [`f:${field}`, {}]));
      const containers = { 'f:containers': { 'k:{"name":"web"}': container } };
      return { 'f:spec': { 'f:template': { 'f:spec': containers } } };
    };
    const policy = { 'spec.template.spec.containers[web].imagePullPolicy': [undefined, 'IfNotPresent'] };
    const git = pod('web');
    const live = pod('web', 'IfNotPresent');

    it('is no edit while nobody owns it', () => {
      const owners = { [flux]: owning('name', 'image'), 'kubectl-edit': owning('image') };
      assert.deepEqual(edits({ live, git, owners }), {});
      assert.deepEqual(edits({ live, git, owners, mirror: true }), {});
    });

    it('is no edit of the one who made the container', () => {
      const owners = {
        'kubectl-create': owning('name', 'imagePullPolicy'),
        'kubectl-edit': owning('image'),
      };
      assert.deepEqual(edits({ live, git, owners }), {});
      assert.deepEqual(edits({ live, git, owners, mirror: true }), {});
    });

    it('is an edit of one who came later, and where it is not known who came', () => {
      const owners = {
        'kubectl-create': owning('name', 'image'),
        'kubectl-edit': owning('imagePullPolicy'),
      };
      assert.deepEqual(edits({ live, git, owners }), policy);
      assert.deepEqual(edits({ live, git, owners, mirror: true }), policy);
      assert.deepEqual(edits({ live, git, mirror: true }), policy);
    });

    it('is an edit when it is no default of any image', () => {
      const owners = { [flux]: owning('name', 'image') };
      assert.deepEqual(edits({ live: pod('web', 'Never'), git, owners }), {
        'spec.template.spec.containers[web].imagePullPolicy': [undefined, 'Never'],
      });
    });

    it('is an edit when the handled object had another one', () => {
      const owners = { 'kubectl-create': owning('name', 'image', 'imagePullPolicy') };
      assert.deepEqual(edits({ handled: pod('web', 'Always'), live, git, owners }), policy);
    });

    it('is written into a new document', () => {
      const owners = { 'kubectl-create': owning('name', 'image', 'imagePullPolicy') };
      assert.deepEqual(result({ live, owners }), live);
    });
  });

  it('goes with the last label of a person', () => {
    const namespace = (labels: string) =>
      read(`{apiVersion: v1, kind: Namespace, metadata: {name: shop${labels}}}`);
    const own = 'kubernetes.io/metadata.name: shop';
    const handled = namespace(`, labels: {${own}, team: pay}`);
    const live = namespace(`, labels: {${own}}`);
    const git = namespace(', labels: {team: pay}');
    assert.deepEqual(result({ handled, live, git }), namespace(''));
    assert.deepEqual(result({ live, git, mirror: true }), namespace(''));
  });

  it('keeps one of two fields that copy each other', () => {
    const twins = deployment(
      '{}',
      '{containers: [{name: web, image: "web:1"}], serviceAccount: robot, serviceAccountName: robot}',
    );
    const named = deployment('{}', '{containers: [{name: web, image: "web:1"}], serviceAccountName: robot}');
    const git = deployment('{}');
    assert.deepEqual(result({ handled: git, live: twins, git }), named);
    assert.deepEqual(result({ live: twins, git, mirror: true }), named);
    assert.deepEqual(result({ live: twins }), named);
  });

  it('says Recreate and nothing of the rolling update that went', () => {
    const git = deployment('{strategy: {rollingUpdate: {maxSurge: 1}}}');
    const handled = deployment(
      '{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 25%}}}',
    );
    const live = deployment('{strategy: {type: Recreate}}');
    assert.deepEqual(read(result({ handled, live, git })?.spec).strategy, { type: 'Recreate' });
    assert.deepEqual(read(result({ live, git, mirror: true })?.spec).strategy, { type: 'Recreate' });
  });

  it('keeps a policy port that is all defaults', () => {
    const policy = (spec: string) =>
      read(
        `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: shop}\nspec: ${spec}`,
      );
    const live = policy('{podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{protocol: TCP}]}]}');
    const handled = policy('{podSelector: {}, policyTypes: [Ingress], ingress: [{}]}');
    const desired = result({ handled, live, git: policy('{podSelector: {}, ingress: [{}]}') });
    const [first] = [read(desired?.spec).ingress].flat();
    assert.equal([read(first ?? null).ports].flat().length, 1);
    assert.notEqual(read(first ?? null).ports, undefined);
  });

  it('removes a zero value only where the server keeps it', () => {
    const git = deployment('{paused: false, minReadySeconds: 0, replicas: 2}');
    assert.equal(decide({ live: deployment('{replicas: 2}'), git, mirror: true }).kind, 'none');
  });
});

describe('intent: a new document', () => {
  it('states what the person meant and no more', () => {
    const live = service(`{type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ipFamilies: [IPv4],
      ipFamilyPolicy: SingleStack, internalTrafficPolicy: Cluster, externalTrafficPolicy: Cluster, sessionAffinity: None,
      selector: {app: web}, ports: [{port: 80, protocol: TCP, targetPort: http, nodePort: 31000}]}`);
    assert.deepEqual(
      result({ live: { ...live, status: { loadBalancer: {} } } }),
      service('{type: NodePort, selector: {app: web}, ports: [{port: 80, targetPort: http}]}'),
    );
  });

  it('begins with what names the object', () => {
    const live = {
      ...read(
        'spec: {a: 1}\nmetadata: {labels: {x: y}, name: w, uid: u}\nkind: Widget\napiVersion: shop.example.test/v1',
      ),
    };
    const desired = result({ live });
    assert.deepEqual(Object.keys(desired ?? {}), ['apiVersion', 'kind', 'metadata', 'spec']);
    assert.deepEqual(desired?.metadata, { name: 'w', labels: { x: 'y' } });
  });
});
