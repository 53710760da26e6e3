import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { identify, objectKey } from '../../src/core/identity.ts';
import { knownAppliers } from '../../src/core/intent/index.ts';
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts';
import { builtinResource, type Change, type Plan, plan } from '../../src/core/plan/index.ts';
import { sanitize } from '../../src/core/sanitize/index.ts';
import { readDocuments } from '../../src/core/yaml/index.ts';
import { caseFolder, type Files, filesOf, objectsOf, treeOf } from './corpus.ts';

const run = promisify(execFile);
const folder = 'apps/shop';

interface Case {
  readonly id: string;
  readonly before: Files;
  readonly after: Files;
  readonly live: readonly JsonObject[];
  readonly path: string;
}

async function load(context: Mocha.Context, id: string): Promise<Case> {
  const path = await caseFolder(id);
  if (path === undefined) {
    console.log(`    skipped ${id}: ../shared/cases is not there`);
    return context.skip();
  }
  return {
    id,
    path,
    before: await filesOf(join(path, 'before')),
    after: await filesOf(join(path, 'after')),
    live: await objectsOf(join(path, 'live.yaml')),
  };
}

function upserts(live: readonly JsonObject[], handled: readonly JsonObject[] = []): Change[] {
  const before = new Map(handled.map((object) => [keyOf(object), sanitize(object)]));
  return live.map((object) => {
    const known = before.get(keyOf(object));
    return {
      kind: 'upsert',
      live: object,
      applierKnown: true,
      ...(known === undefined ? {} : { handled: known }),
    };
  });
}

/** The objects as they were in sync with Git: `before/` with what the server had filled in. */
function earlier(before: Files, live: readonly JsonObject[]): JsonObject[] {
  const documents = new Map<string, JsonObject>();
  for (const path of before.keys()) {
    for (const document of readDocuments(text(before, path))) {
      if (document.kind !== 'value' || !isObject(document.value)) continue;
      if (identify(document.value) !== undefined) documents.set(keyOf(document.value), document.value);
    }
  }
  return live.flatMap((object) => {
    const document = documents.get(keyOf(object));
    const value = document === undefined ? undefined : overlay(object, document);
    return isObject(value) ? [value] : [];
  });
}

function overlay(live: Json | undefined, document: Json): Json {
  if (Array.isArray(document)) {
    const items = Array.isArray(live) ? live : [];
    return document.map((item) => {
      const own = items.find(
        (one) => isObject(one) && isObject(item) && one.name === item.name && item.name !== undefined,
      );
      return own === undefined ? item : overlay(own, item);
    });
  }
  if (!isObject(document)) return document;
  const members: JsonObject = isObject(live) ? { ...live } : {};
  for (const [key, value] of Object.entries(document)) members[key] = overlay(members[key], value);
  if (isObject(members.annotations)) {
    // The restart is the edit of B16; nothing in Git tells it from what the server fills in.
    const { 'kubectl.kubernetes.io/restartedAt': _restart, ...rest } = members.annotations;
    members.annotations = rest;
  }
  return members;
}

function keyOf(object: JsonObject): string {
  const id = identify(object);
  assert.ok(id);
  return objectKey(id);
}

async function planOn(files: Files, changes: readonly Change[], placement = {}): Promise<Plan> {
  return await plan(treeOf(files), changes, {
    folder,
    placement,
    prune: 'OnEvent',
    managers: { appliers: Object.values(knownAppliers).flat(), ignore: [] },
    isSensitive: ({ kind }) => kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
  });
}

function applied(files: Files, planned: Plan): Files {
  const result = new Map(files);
  for (const { path, content } of planned.edits) {
    if (content === undefined) result.delete(path);
    else result.set(path, content);
  }
  return new Map([...result].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function assertSame(actual: Files, expected: Files): void {
  assert.deepEqual([...actual.keys()], [...expected.keys()]);
  for (const [path, bytes] of expected) {
    assert.equal(visible(actual.get(path)), visible(bytes), path);
  }
}

function renamed(files: Files, from: string, to: string): Files {
  const pairs = [...files].map(([path, bytes]) => [path === from ? to : path, bytes] as const);
  return new Map(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function visible(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}

function text(files: Files, path: string): string {
  return Buffer.from(files.get(path) ?? []).toString('utf8');
}

/** Lines of the file that are not in the other one, in order. */
function newLines(before: Files, after: Files, path: string): string[] {
  const old = new Set(text(before, path).split('\n'));
  return text(after, path)
    .split('\n')
    .filter((line) => !old.has(line));
}

/** A copy of the objects with the value at a path replaced; the path is walked by keys and positions. */
function edited(
  live: readonly JsonObject[],
  name: string,
  path: readonly (string | number)[],
  value: Json,
): JsonObject[] {
  const copy = structuredClone(live) as JsonObject[];
  const object = copy.find((one) => isObject(one.metadata) && one.metadata.name === name);
  let at: Json | undefined = object;
  for (const step of path.slice(0, -1)) {
    at = Array.isArray(at) ? at[Number(step)] : isObject(at) ? at[step] : undefined;
  }
  const last = path.at(-1);
  assert.ok(last !== undefined && at !== undefined && at !== null && typeof at === 'object');
  if (Array.isArray(at)) at[Number(last)] = value;
  else at[last] = value;
  return copy;
}

/** Adds a manager entry that owns the given fields. */
function ownedBy(live: readonly JsonObject[], name: string, entry: JsonObject): JsonObject[] {
  const copy = structuredClone(live) as JsonObject[];
  const object = copy.find((one) => isObject(one.metadata) && one.metadata.name === name);
  assert.ok(isObject(object?.metadata) && Array.isArray(object.metadata.managedFields));
  object.metadata.managedFields.push({
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    ...entry,
  });
  return copy;
}

const byteForByte = [
  'B01',
  'B02',
  'B05',
  'B06',
  'B07',
  'B09',
  'B10',
  'B12',
  'B14',
  'B16',
  'B17',
  'B18',
  'B27',
  'B30',
  'B42',
];

describe('cases from the field', () => {
  for (const id of byteForByte) {
    it(`${id} gives the expected tree, and the second pass nothing`, async function () {
      const { before, after, live } = await load(this, id);
      const planned = await planOn(before, upserts(live));
      assert.deepEqual(planned.refused, []);
      const result = applied(before, planned);
      assertSame(result, after);
      assert.deepEqual((await planOn(result, upserts(live))).edits, []);
      assert.deepEqual((await planOn(result, upserts(live, live))).edits, [], 'with this live state handled');
    });

    it(`${id} gives the same tree when the state before the edit is known`, async function () {
      const { before, after, live } = await load(this, id);
      const planned = await planOn(before, upserts(live, earlier(before, live)));
      assert.deepEqual(planned.refused, []);
      assertSame(applied(before, planned), after);
    });

    it(`${id} does the same as a diff of the command that git applies`, async function () {
      const { before, after, path } = await load(this, id);
      await inCopy(path, async (root) => {
        const { stdout } = await command(root, '--live', join(path, 'live.yaml'));
        assertSame(await filesOf(root), before);
        await apply(root, stdout);
        assertSame(await filesOf(root), after);
      });
    });
  }

  it('B15 writes three new documents and never the bundle of the cluster', async function () {
    const { before, after, live, path } = await load(this, 'B15');
    const planned = await planOn(before, upserts(live), { default: 'rates.yaml' });
    const result = applied(before, planned);
    assert.deepEqual([...result.keys()], [...after.keys()]);
    const documents = (files: Files) =>
      readDocuments(text(files, 'apps/shop/rates.yaml'))
        .map((one) => (one.kind === 'value' ? withoutTolerated(one.value) : null))
        .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    assert.deepEqual(documents(result), documents(after));
    const never = planned.outcomes.filter(({ outcome }) => outcome === 'never-mirrored');
    assert.deepEqual(
      never.map(({ object }) => object.name),
      ['kube-root-ca.crt'],
    );
    assert.deepEqual((await planOn(result, upserts(live), { default: 'rates.yaml' })).edits, []);
    await inCopy(path, async (root) => {
      await command(root, '--live', join(path, 'live.yaml'), '--write');
      assert.deepEqual(
        [...(await filesOf(root)).keys()],
        [
          'apps/shop/.gitkeep',
          'apps/shop/shop/persistentvolumeclaims/rates-data.yaml',
          'apps/shop/shop/services/rates-peers.yaml',
          'apps/shop/shop/services/rates.yaml',
        ],
      );
    });
  });

  it('B33 removes what was seen before the gap and is gone now', async function () {
    const { before, after, live, path } = await load(this, 'B33');
    const seen = await objectsOf(join(path, 'seen-before-gap.yaml'));
    const old = seen.find((object) => isObject(object.metadata) && object.metadata.name === 'old');
    const id = identify(old);
    assert.ok(old && id);
    const gone: Change = { kind: 'delete', id, handled: sanitize(old), reason: 'absent' };
    assertSame(applied(before, await planOn(before, [...upserts(live, seen), gone])), after);
    await inCopy(path, async (root) => {
      await command(
        root,
        '--live',
        join(path, 'live.yaml'),
        '--previous',
        join(path, 'seen-before-gap.yaml'),
        '--write',
      );
      assertSame(await filesOf(root), after);
    });
    await inCopy(path, async (root) => {
      await command(root, '--live', join(path, 'live.yaml'), '--write');
      assert.ok((await filesOf(root)).has('apps/shop/old.yaml'), 'never seen and absent is no delete');
    });
  });

  it('B29 puts the edit on the tip that somebody else pushed, wherever the document stands there', async function () {
    const { before, after, live, path } = await load(this, 'B29');
    const tip = await filesOf(join(path, 'remote-tip'));
    const changes = upserts(live, earlier(before, live));
    const planned = await planOn(tip, changes);
    assertSame(applied(tip, planned), after);
    assert.equal(planned.edits.length, 1);
    assert.deepEqual((await planOn(after, changes)).edits, [], 'the tip holds our value already');

    const web = 'apps/shop/web.yaml';
    const moved = renamed(tip, web, 'apps/shop/web/deployment.yaml');
    assertSame(
      applied(moved, await planOn(moved, changes)),
      renamed(after, web, 'apps/shop/web/deployment.yaml'),
    );

    const deleted = new Map([...tip].filter(([one]) => one !== web));
    const restored = await planOn(deleted, changes);
    assert.deepEqual(
      restored.edits.map((edit) => [edit.path, edit.action]),
      [['apps/shop/shop/apps/deployments/web.yaml', 'create']],
    );
    assert.deepEqual(
      restored.notices.map(({ code }) => code),
      ['RestoredAfterGitDelete'],
    );
  });

  it('B05 then changes one line inside the literal block', async function () {
    const { after, live } = await load(this, 'B05');
    const json = '{   \n  "db": { \n    "host": "db.shop.svc",\n    "pool": 20\n  }\n}';
    const result = applied(
      after,
      await planOn(after, upserts(edited(live, 'web-config', ['data', 'settings.json'], json), live)),
    );
    assert.deepEqual(newLines(after, result, 'apps/shop/config.yaml'), [
      '      "pool": 20'.replace(/^ {6}/, '        '),
    ]);
    assert.match(text(result, 'apps/shop/config.yaml'), /settings\.json: \|-\n {4}\{ {3}\n {6}"db": \{ \n/);
  });

  it('B06 appends with the line ends of the file', async function () {
    const { after, live } = await load(this, 'B06');
    const extra: JsonObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'extra', namespace: 'shop' },
      data: { a: 'b' },
    };
    const result = applied(
      after,
      await planOn(after, upserts([...live, extra], live), { default: 'service.yaml' }),
    );
    const service = text(result, 'apps/shop/service.yaml');
    assert.ok(service.startsWith(text(after, 'apps/shop/service.yaml')));
    assert.equal(service.match(/\n/g)?.length, service.match(/\r\n/g)?.length);
  });

  it('B12 then adds one field that is no default, and keeps a written default', async function () {
    const { after, live } = await load(this, 'B12');
    const grace = ['spec', 'template', 'spec', 'terminationGracePeriodSeconds'];
    const person = {
      manager: 'kubectl-edit',
      fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': { 'f:terminationGracePeriodSeconds': {} } } } },
    };
    const longer = ownedBy(edited(live, 'pay', grace, 60), 'pay', person);
    const back = ownedBy(live, 'pay', person);
    const second = applied(after, await planOn(after, upserts(longer, live)));
    assert.deepEqual(newLines(after, second, 'apps/shop/pay.yaml'), [
      '      terminationGracePeriodSeconds: 60',
    ]);
    const third = applied(second, await planOn(second, upserts(back, longer)));
    assert.deepEqual(newLines(second, third, 'apps/shop/pay.yaml'), [
      '      terminationGracePeriodSeconds: 30',
    ]);
    assert.deepEqual((await planOn(third, upserts(back, back))).edits, []);
    assert.deepEqual((await planOn(third, upserts(back))).edits, []);
  });

  it('B14 then changes one quantity and leaves the other spellings', async function () {
    const { after, live } = await load(this, 'B14');
    const memory = ['spec', 'template', 'spec', 'containers', 0, 'resources', 'requests', 'memory'];
    const more = ownedBy(edited(live, 'db', memory, '1536Mi'), 'db', {
      manager: 'kubectl-edit',
      fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': {} } } } },
    });
    for (const handled of [[], live]) {
      const result = applied(after, await planOn(after, upserts(more, handled)));
      assert.equal(
        text(result, 'apps/shop/db.yaml'),
        text(after, 'apps/shop/db.yaml').replace('1024Mi', '1536Mi'),
      );
    }
  });

  it('B17 then adds only the field a person sets', async function () {
    const { after, live } = await load(this, 'B17');
    const person = ownedBy(edited(live, 'price-guard', ['webhooks', 0, 'timeoutSeconds'], 5), 'price-guard', {
      manager: 'kubectl-edit',
      fieldsV1: { 'f:webhooks': { 'k:{"name":"prices.guard.example.test"}': { 'f:timeoutSeconds': {} } } },
    });
    for (const handled of [[], live]) {
      const result = applied(after, await planOn(after, upserts(person, handled)));
      assert.deepEqual(newLines(after, result, 'apps/shop/webhook.yaml'), ['    timeoutSeconds: 5']);
    }
  });

  it('B18 then records a size a person sets where no autoscaler does, and an edit of the autoscaler', async function () {
    const { after, live } = await load(this, 'B18');
    const scaled = ownedBy(
      live.filter((object) => isObject(object.metadata) && object.metadata.name === 'feed'),
      'feed',
      { manager: 'kubectl', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ).map((object) => {
      const managed = isObject(object.metadata) ? object.metadata.managedFields : [];
      assert.ok(Array.isArray(managed) && isObject(object.metadata));
      const people = managed.filter(
        (entry) => !isObject(entry) || entry.manager !== 'kube-controller-manager',
      );
      return { ...object, metadata: { ...object.metadata, managedFields: people } };
    });
    const alone = new Map([...after].filter(([path]) => !path.endsWith('hpa.yaml')));
    const result = applied(alone, await planOn(alone, upserts(scaled)));
    assert.deepEqual(newLines(alone, result, 'apps/shop/feed.yaml'), [
      '  replicas: 6   # first size only, the autoscaler owns it later',
    ]);
    const autoscaler: JsonObject = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'feed', namespace: 'shop' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'feed' },
        minReplicas: 2,
        maxReplicas: 20,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
          },
        ],
      },
    };
    const larger = applied(after, await planOn(after, upserts([autoscaler])));
    assert.deepEqual(newLines(after, larger, 'apps/shop/hpa.yaml'), ['  maxReplicas: 20']);
    assert.equal(text(larger, 'apps/shop/hpa.yaml').match(/maxReplicas: 10/g)?.length, 1);
  });

  it('B27 tells two container ports of one number apart by protocol', async function () {
    const { after } = await load(this, 'B27');
    const manifest = (tcpHost: number) => `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: dns, namespace: shop}
spec:
  selector: {matchLabels: {app: dns}}
  template:
    metadata: {labels: {app: dns}}
    spec:
      containers:
        - name: dns
          image: registry.example.test/shop/dns:1
          ports:
            - {containerPort: 53, hostPort: 53, protocol: UDP} # queries
            - {containerPort: 53, hostPort: ${tcpHost}} # large answers
`;
    const files = new Map([...after, ['apps/shop/dns.yaml', Buffer.from(manifest(53))] as const]);
    const live = readDocuments(manifest(5353))[0];
    assert.ok(live?.kind === 'value' && isObject(live.value));
    const reversed = edited(
      [live.value],
      'dns',
      ['spec', 'template', 'spec', 'containers', 0, 'ports'],
      [
        { containerPort: 53, hostPort: 5353, protocol: 'TCP' },
        { containerPort: 53, hostPort: 53, protocol: 'UDP' },
      ],
    );
    const result = applied(files, await planOn(files, upserts(reversed)));
    assert.equal(text(result, 'apps/shop/dns.yaml'), manifest(5353));
  });

  it('B09 reports the template once by path, and B30 writes once', async function () {
    const template = await load(this, 'B09');
    const planned = await planOn(template.before, upserts(template.live));
    const reported = planned.skipped.map(({ path }) => path);
    assert.equal(new Set(reported).size, reported.length);
    assert.ok(reported.includes('apps/shop/chart/templates/deploy.yaml'));
    assert.ok(!reported.includes('apps/shop/ok.yaml'));

    const { before, after, live } = await load(this, 'B30');
    const once = await planOn(before, upserts(live));
    assert.deepEqual(
      once.edits.map(({ path }) => path),
      ['apps/shop/web.yaml'],
    );
    assert.deepEqual((await planOn(after, upserts(live))).edits, []);
  });
});

/** Fields the corpus tolerates either way in a new document. */
function withoutTolerated(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutTolerated);
  if (!isObject(value)) return value;
  const tolerated = (key: string, member: Json) =>
    (key === 'protocol' && member === 'TCP') ||
    (key === 'type' && member === 'ClusterIP') ||
    key === 'volumeMode' ||
    (key === 'targetPort' && member === value.port);
  const kept = Object.entries(value).filter(([key, member]) => !tolerated(key, member));
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutTolerated(member)]));
}

async function inCopy(path: string, use: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'plan-case-'));
  try {
    await cp(join(path, 'before'), root, { recursive: true });
    await use(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function command(root: string, ...options: string[]): Promise<{ stdout: string; stderr: string }> {
  const script = join(import.meta.dirname, 'run-plan.ts');
  const argv = [script, join(root, folder), '--repo-root', root, ...options];
  return await run(process.execPath, argv, { encoding: 'latin1' });
}

async function apply(root: string, diff: string): Promise<void> {
  if (diff === '') return;
  const child = run('git', ['apply', '--whitespace=nowarn', '-'], {
    cwd: root,
    env: { PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: tmpdir() },
  });
  child.child.stdin?.end(Buffer.from(diff, 'latin1'));
  await child;
}
