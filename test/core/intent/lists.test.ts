import assert from 'node:assert/strict';
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { decide, deployment, edits, flux, read, result, widget } from './scene.ts';

const container = (fields: string) => deployment('{}', `{containers: [{name: web, image: w, ${fields}}]}`);

/** The container `web` of the result. */
function web(object: JsonObject | undefined): JsonObject {
  const spec = read(read(read(object?.spec).template).spec);
  const { containers } = spec;
  assert.ok(Array.isArray(containers));
  return read(containers.find((item) => isObject(item) && item.name === 'web'));
}

function names(items: Json | undefined): Json[] {
  assert.ok(Array.isArray(items));
  return items.map((item) => (isObject(item) ? (item.name ?? null) : item));
}

describe('intent: lists paired by key', () => {
  it('keep the file’s order although live has another one, new items come last', () => {
    const volume = (...all: string[]) =>
      deployment(
        '{}',
        `{containers: [{name: web, image: w}], volumes: [${all.map((name) => `{name: ${name}, emptyDir: {medium: Memory}}`).join(', ')}]}`,
      );
    const scene = { handled: volume('a', 'b'), live: volume('n', 'b', 'a'), git: volume('a', 'b') };
    assert.deepEqual(result(scene), volume('a', 'b', 'n'));
    assert.deepEqual(result({ live: scene.live, git: scene.git, mirror: true }), volume('a', 'b', 'n'));
  });

  it('merge item by item: both sides’ new items and changes survive', () => {
    const pod = (...items: string[]) =>
      deployment('{}', `{containers: [${items.map((item) => `{${item}}`).join(', ')}]}`);
    const scene = {
      handled: pod('name: a, image: a1', 'name: b, image: b1', 'name: c, image: c1'),
      live: pod('name: a, image: a2', 'name: c, image: c1', 'name: live, image: l'),
      git: pod(
        'name: a, image: a1, tty: true',
        'name: b, image: b1',
        'name: git, image: g',
        'name: c, image: c2',
      ),
    };
    assert.deepEqual(
      result(scene),
      pod(
        'name: a, image: a2, tty: true',
        'name: git, image: g',
        'name: c, image: c2',
        'name: live, image: l',
      ),
    );
  });

  it('bring back an item whole when Git removed it and live changed it', () => {
    const pod = (items: string) => deployment('{}', `{containers: [{name: web, image: w}${items}]}`);
    const scene = {
      handled: pod(', {name: side, image: s1, args: [x], imagePullPolicy: IfNotPresent}'),
      live: pod(', {name: side, image: "s:2", args: [x], imagePullPolicy: IfNotPresent}'),
      git: pod(''),
    };
    assert.deepEqual(result(scene), pod(', {name: side, image: "s:2", args: [x]}'));
    assert.equal(decide({ ...scene, live: scene.handled, git: pod('') }).kind, 'none');
  });

  it('never add an item only the applier or a controller put there', () => {
    const pod = (items: string) => deployment('{}', `{containers: [{name: web, image: w}${items}]}`);
    const owned = {
      'f:spec': {
        'f:template': {
          'f:spec': { 'f:containers': { 'k:{"name":"side"}': { '.': {}, 'f:name': {}, 'f:image': {} } } },
        },
      },
    };
    const scene = { handled: pod(''), live: pod(', {name: side, image: s}'), git: pod('') };
    assert.equal(decide({ ...scene, owners: { [flux]: owned } }).kind, 'none');
    assert.equal(decide({ ...scene, owners: { istiod: owned } }).kind, 'none');
    assert.equal(decide({ ...scene, owners: { kubectl: owned } }).kind, 'edit');
  });

  it('tell two ports of one number apart, and see a changed number as a change', () => {
    const service = (ports: string) =>
      read(`apiVersion: v1\nkind: Service\nmetadata: {name: dns, namespace: shop}\nspec: {ports: ${ports}}`);
    const scene = {
      handled: service(
        '[{name: u, port: 53, protocol: UDP, targetPort: 53}, {name: t, port: 53, protocol: TCP, targetPort: 53}]',
      ),
      live: service(
        '[{name: t, port: 54, protocol: TCP, targetPort: 5353}, {name: u, port: 53, protocol: UDP, targetPort: 53}]',
      ),
      git: service('[{name: u, port: 53, protocol: UDP}, {name: t, port: 53}]'),
    };
    assert.deepEqual(edits(scene), {
      'spec.ports[t].port': [53, 54],
      'spec.ports[t].targetPort': [undefined, 5353],
    });
    assert.deepEqual(edits({ live: scene.live, git: scene.git, mirror: true }), edits(scene));
  });

  it('tell two ports of one number and protocol apart by the rest', () => {
    const scene = {
      handled: container(
        'ports: [{containerPort: 80, hostPort: 1, protocol: TCP}, {containerPort: 80, hostPort: 2, protocol: TCP}]',
      ),
      live: container(
        'ports: [{containerPort: 80, hostPort: 1, protocol: TCP}, {containerPort: 80, hostPort: 3, protocol: TCP}]',
      ),
      git: container('ports: [{containerPort: 80, hostPort: 1}, {containerPort: 80, hostPort: 2}]'),
    };
    assert.deepEqual(web(result(scene)).ports, [
      { containerPort: 80, hostPort: 1 },
      { containerPort: 80, hostPort: 3 },
    ]);
  });
});

describe('intent: lists whose order means something', () => {
  const env = (...all: string[]) =>
    container(`env: [${all.map((name) => `{name: ${name}, value: v}`).join(', ')}]`);
  const order = (scene: Parameters<typeof result>[0]) => names(web(result(scene)).env);

  it('follow live when somebody moved items there', () => {
    assert.deepEqual(
      order({ handled: env('A', 'B', 'C'), live: env('C', 'A', 'B'), git: env('A', 'B', 'C') }),
      ['C', 'A', 'B'],
    );
    assert.deepEqual(order({ live: env('C', 'A', 'B'), git: env('A', 'B', 'C'), mirror: true }), [
      'C',
      'A',
      'B',
    ]);
  });

  it('stay as Git ordered them when live did not move', () => {
    assert.deepEqual(order({ handled: env('A', 'B'), live: env('A', 'N', 'B'), git: env('B', 'A') }), [
      'B',
      'A',
      'N',
    ]);
    assert.equal(decide({ handled: env('A', 'B'), live: env('A', 'B'), git: env('B', 'A') }).kind, 'none');
  });

  it('take a new item where it stands live', () => {
    assert.deepEqual(order({ handled: env('A', 'B'), live: env('N', 'A', 'M', 'B'), git: env('A', 'B') }), [
      'N',
      'A',
      'M',
      'B',
    ]);
  });

  it('keep an item only Git has behind the one it follows', () => {
    assert.deepEqual(order({ handled: env('A', 'B'), live: env('B', 'A'), git: env('A', 'G', 'B') }), [
      'B',
      'A',
      'G',
    ]);
  });

  it('fall back to the position when names repeat', () => {
    const scene = {
      handled: container('env: [{name: A, value: x}, {name: A, value: y}]'),
      live: container('env: [{name: A, value: x}, {name: A, value: z}]'),
      git: container('env: [{name: A, value: x}, {name: A, value: y}]'),
    };
    assert.deepEqual(web(result(scene)).env, [
      { name: 'A', value: 'x' },
      { name: 'A', value: 'z' },
    ]);
  });
});

describe('intent: lists without keys', () => {
  it('follow live as one value', () => {
    const scene = {
      handled: container('args: [a, b]'),
      live: container('args: [b, c]'),
      git: container('args: [a, b]'),
    };
    assert.deepEqual(web(result(scene)).args, ['b', 'c']);
  });

  it('report Git’s change as overwritten when both sides changed', () => {
    const intent = decide({
      handled: container('args: [a]'),
      live: container('args: [a, l]'),
      git: container('args: [a, g]'),
    });
    assert.ok(intent.kind === 'edit');
    assert.deepEqual(web(intent.desired).args, ['a', 'l']);
    assert.deepEqual(
      intent.overwritten.map(({ where }) => where),
      ['spec.template.spec.containers[web].args[1]'],
    );
  });

  const ingress = (rules: string) =>
    read(
      `apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: shop}\nspec: {rules: ${rules}}`,
    );
  const rule = (host: string, port: number) =>
    `{host: ${host}, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: ${port}}}}}]}}`;

  it('keep the item of the file where it means the same, and merge the one that changed', () => {
    const git = ingress(`[${rule('a', 1)}, ${rule('b', 1)}]`);
    const live = ingress(`[${rule('b', 1)}, ${rule('n', 1)}, ${rule('a', 2)}]`);
    const desired = result({ handled: git, live, git });
    assert.deepEqual(desired, live);
    const rules = read(desired?.spec).rules;
    const own = read(git.spec).rules;
    assert.ok(Array.isArray(rules) && Array.isArray(own));
    assert.equal(rules[0], own[1]);
  });

  it('drag no defaults of unchanged items into the file', () => {
    const policy = (ingress: string) =>
      read(
        `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: shop}\nspec: {podSelector: {}, policyTypes: [Ingress], ingress: ${ingress}}`,
      );
    const scene = {
      handled: policy('[{ports: [{port: 80, protocol: TCP}]}, {ports: [{port: 90, protocol: TCP}]}]'),
      live: policy('[{ports: [{port: 90, protocol: TCP}]}, {ports: [{port: 81, protocol: TCP}]}]'),
      git: policy('[{ports: [{port: 80}]}, {ports: [{port: 90}]}]'),
    };
    const expected = policy('[{ports: [{port: 90}]}, {ports: [{port: 81}]}]');
    assert.deepEqual(result(scene), expected);
    assert.deepEqual(result({ live: scene.live, git: scene.git, mirror: true }), expected);
  });

  it('keep what Git changed inside an item live left alone', () => {
    const scene = {
      handled: ingress(`[${rule('a', 1)}, ${rule('b', 1)}]`),
      live: ingress(`[${rule('a', 1)}, ${rule('b', 2)}]`),
      git: ingress(`[${rule('a', 9)}, ${rule('b', 1)}]`),
    };
    assert.deepEqual(result(scene), ingress(`[${rule('a', 9)}, ${rule('b', 2)}]`));
  });
});

describe('intent: sets', () => {
  it('take additions and removals of both sides', () => {
    const crd = (names: string) =>
      read(`apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: d}
spec: {volumeLifecycleModes: ${names}}`);
    const scene = {
      handled: crd('[Persistent, Old]'),
      live: crd('[Ephemeral, Persistent]'),
      git: crd('[Old, Persistent, Git]'),
    };
    assert.deepEqual(read(result(scene)?.spec).volumeLifecycleModes, ['Persistent', 'Git', 'Ephemeral']);
    assert.equal(
      decide({ handled: scene.git, live: crd('[Git, Old, Persistent]'), git: scene.git }).kind,
      'none',
    );
  });
});

describe('intent: a kind nobody has a schema of', () => {
  it('pairs lists by name where names are unique, else takes them as one value', () => {
    const scene = {
      handled: widget('{named: [{name: a, v: 1}, {name: b, v: 1}], plain: [{v: 1}, {v: 2}]}'),
      live: widget('{named: [{name: a, v: 2}, {name: b, v: 1}], plain: [{v: 1}, {v: 3}]}'),
      git: widget('{named: [{name: b, v: 5}, {name: a, v: 1}], plain: [{v: 1}, {v: 2}]}'),
    };
    assert.deepEqual(result(scene)?.spec, {
      named: [
        { name: 'b', v: 5 },
        { name: 'a', v: 2 },
      ],
      plain: [{ v: 1 }, { v: 3 }],
    });
  });
});
