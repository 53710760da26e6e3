/** Cases from the field whose folder kustomize builds, or whose values Flux fills in after the build. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify, objectKey, parseObject } from '../../src/core/identity.ts';
import { knownAppliers } from '../../src/core/intent/index.ts';
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts';
import { createRenderCache, type PostBuild, postBuildOf } from '../../src/core/kustomize/index.ts';
import { builtinResource, type Change, type Plan, plan } from '../../src/core/plan/index.ts';
import { sanitize } from '../../src/core/sanitize/index.ts';
import { readDocuments } from '../../src/core/yaml/index.ts';
import { createKustomize } from '../../src/render/index.ts';
import { part } from '../cluster/parts.ts';
import { run } from '../cluster/run.ts';
import { caseFolder, type Files, filesOf, objectsOf, treeOf } from './corpus.ts';

interface Case {
  readonly folder: string;
  readonly before: Files;
  readonly after: Files;
  readonly live: readonly JsonObject[];
}

const folders: Readonly<Record<string, string>> = { B23: 'apps/shop/overlays/prod' };
const render = createKustomize({ program: part('kustomize') });
const cache = createRenderCache(10_000);

async function load(context: Mocha.Context, id: string): Promise<Case> {
  const path = await caseFolder(id);
  if (path === undefined) {
    console.log(`    skipped ${id}: ../shared/cases is not there`);
    return context.skip();
  }
  return {
    folder: folders[id] ?? 'apps/shop',
    before: await filesOf(join(path, 'before')),
    after: await filesOf(join(path, 'after')),
    live: await objectsOf(join(path, 'live.yaml')),
  };
}

function upserts(live: readonly JsonObject[], handled: readonly JsonObject[] = []): Change[] {
  const before = new Map(handled.map((object) => [keyOf(object), sanitize(object)]));
  return live.map((object) => {
    const known = before.get(keyOf(object));
    return { kind: 'upsert', live: object, applierKnown: true, ...(known ? { handled: known } : {}) };
  });
}

function keyOf(object: JsonObject): string {
  const id = identify(object);
  assert.ok(id);
  return objectKey(id);
}

async function planOn(
  files: Files,
  folder: string,
  changes: readonly Change[],
  postBuild?: PostBuild,
): Promise<Plan> {
  return await plan(treeOf(files), changes, {
    folder,
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: Object.values(knownAppliers).flat(), ignore: [] },
    isSensitive: ({ kind }) => kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
    kustomize: { render, cache, ...(postBuild === undefined ? {} : { postBuild }) },
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
  for (const path of expected.keys()) assert.equal(text(actual, path), text(expected, path), path);
}

function text(files: Files, path: string): string {
  return Buffer.from(files.get(path) ?? []).toString('utf8');
}

function postBuildIn(files: Files): PostBuild | undefined {
  const [document] = readDocuments(text(files, 'clusters/eu/shop.yaml'));
  assert.ok(document?.kind === 'value' && isObject(document.value));
  return postBuildOf(document.value, [], 'clusters/eu/shop.yaml');
}

/** A copy with the value at a path replaced. */
function edited(
  live: readonly JsonObject[],
  name: string,
  path: readonly (string | number)[],
  value: Json,
): JsonObject[] {
  const copy = structuredClone(live) as JsonObject[];
  let at: Json | undefined = copy.find((one) => isObject(one.metadata) && one.metadata.name === name);
  for (const step of path.slice(0, -1))
    at = Array.isArray(at) ? at[Number(step)] : isObject(at) ? at[step] : undefined;
  const last = path.at(-1);
  assert.ok(last !== undefined && at !== null && typeof at === 'object');
  if (Array.isArray(at)) at[Number(last)] = value;
  else at[last] = value;
  return copy;
}

const image = (container: number) => ['spec', 'template', 'spec', 'containers', container, 'image'];

describe('cases from the field, built by kustomize', () => {
  for (const id of ['B21', 'B23', 'B25']) {
    it(`${id} gives the expected tree, and the second pass nothing`, async function () {
      const { folder, before, after, live } = await load(this, id);
      const planned = await planOn(before, folder, upserts(live));
      assert.deepEqual(planned.refused, []);
      const result = applied(before, planned);
      assertSame(result, after);
      assert.deepEqual((await planOn(result, folder, upserts(live))).edits, []);
      assert.deepEqual((await planOn(result, folder, upserts(live, live))).edits, []);
    });
  }

  it('B21 then changes newName when only the repository of the image changes', async function () {
    const { folder, after, live } = await load(this, 'B21');
    const moved = edited(live, 'web', image(0), 'registry.example.test/moved/web:v2.1.0');
    const planned = await planOn(after, folder, upserts(moved, live));
    assert.deepEqual(planned.refused, []);
    const kustomization = 'apps/shop/kustomization.yaml';
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      [kustomization],
    );
    assert.equal(
      text(applied(after, planned), kustomization),
      text(after, kustomization).replace('registry.example.test/shop/web', 'registry.example.test/moved/web'),
    );
  });

  it('B23 then adds an images entry to the overlay, and a patch of ours for what only the base states', async function () {
    const { folder, after, live } = await load(this, 'B23');
    const newer = edited(live, 'web', image(0), 'registry.example.test/shop/web:1.5.0');
    const planned = await planOn(after, folder, upserts(newer, live));
    assert.deepEqual(planned.refused, []);
    assert.deepEqual(
      planned.edits.map(({ path }) => path),
      [`${folder}/kustomization.yaml`],
    );
    const [edit] = planned.edits;
    assert.match(
      Buffer.from(edit?.content ?? []).toString('utf8'),
      /images:\n {2}- name: registry\.example\.test\/shop\/web\n {4}newTag: 1\.5\.0\n$/,
    );
    const slower = edited(live, 'web', ['spec', 'minReadySeconds'], 10);
    const carried = await planOn(after, folder, upserts(slower, live));
    assert.deepEqual(carried.refused, []);
    assert.deepEqual(
      carried.edits.map(({ path }) => path),
      [`${folder}/deployment-web-edits.yaml`, `${folder}/kustomization.yaml`],
    );
  });

  it('B25 then removes the document of a Service and its entry', async function () {
    const { folder, after } = await load(this, 'B25');
    const id = parseObject('Service/shop-prod/prod-web');
    assert.ok(id);
    const planned = await planOn(after, folder, [{ kind: 'delete', id, reason: 'observed' }]);
    assert.deepEqual(planned.refused, []);
    const result = applied(after, planned);
    assert.ok(!result.has('apps/shop/svc.yaml'));
    assert.equal(
      text(result, 'apps/shop/kustomization.yaml'),
      text(after, 'apps/shop/kustomization.yaml').replace('  - svc.yaml\n', ''),
    );
  });

  it('B26 keeps every variable, and the second pass plans nothing', async function () {
    const { folder, before, after, live } = await load(this, 'B26');
    const postBuild = postBuildIn(before);
    const planned = await planOn(before, folder, upserts(live), postBuild);
    assert.deepEqual(planned.refused, []);
    const result = applied(before, planned);
    assertSame(result, after);
    assert.deepEqual((await planOn(result, folder, upserts(live), postBuild)).edits, []);
  });

  it('B26 then refuses to freeze the host and names the variable and where it lives', async function () {
    const { folder, after, live } = await load(this, 'B26');
    const moved = edited(live, 'web', ['spec', 'rules', 0, 'host'], 'shop.us.example.test');
    const planned = await planOn(after, folder, upserts(moved), postBuildIn(after));
    assert.deepEqual(planned.edits, []);
    const [refusal] = planned.refused;
    assert.equal(refusal?.reason, 'RenderDoesNotMatchLive');
    assert.match(refusal?.message ?? '', /CLUSTER_DOMAIN lives in clusters\/eu\/shop\.yaml/);
  });

  it('come out of the command in the same way', async function () {
    this.timeout(60_000);
    for (const id of ['B23', 'B26']) {
      const { folder, after } = await load(this, id);
      const path = await caseFolder(id);
      assert.ok(path);
      const root = await mkdtemp(join(tmpdir(), 'kustomize-case-'));
      try {
        await cp(join(path, 'before'), root, { recursive: true });
        const argv = [join(root, folder), '--repo-root', root, '--live', join(path, 'live.yaml'), '--write'];
        const missing = await command([...argv, '--kustomize', '/nowhere/kustomize']);
        assert.equal(missing.code, 2);
        assert.match(missing.stderr, /^plan: --kustomize \/nowhere\/kustomize: there is no such program\n$/);
        const done = await command([...argv, '--kustomize', part('kustomize')]);
        assert.equal(done.code, 0, done.stderr);
        assertSame(await filesOf(root), after);
      } finally {
        await rm(root, { recursive: true });
      }
    }
  });
});

async function command(argv: readonly string[]) {
  return await run(process.execPath, [join(import.meta.dirname, 'run-plan.ts'), ...argv]);
}
