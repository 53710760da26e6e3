import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { scaleTarget } from '../../src/core/folder/index.ts';
import { objectKey } from '../../src/core/identity.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { part } from '../cluster/parts.ts';
import { until } from '../cluster/wait.ts';
import { seededRandom } from '../core/yaml/fuzz/random.ts';
import { type Api, apiOf } from './api.ts';
import { installCrds } from './crds.ts';
import { type Maker, travel } from './journey.ts';
import { createLocks, type Locks } from './locks.ts';
import { type Collection, collectManifests, type ManifestFile } from './manifests.ts';
import { createTally } from './tally.ts';

const makers: readonly Maker[] = ['person', 'Flux'];
const namespaces = ['rt-0', 'rt-1', 'rt-2', 'rt-3', 'rt-4', 'rt-5'];
const atATime = 12;

describe('the round trip through a real API server', () => {
  let cluster: ControlPlane | undefined;
  let api: Api | undefined;
  let collection: Collection | undefined;
  const tally = createTally();

  before(async function () {
    this.timeout(300_000);
    collection = collectManifests();
    const missing = collection === undefined ? '../shared/corpora is not there' : partsMissing();
    if (missing !== undefined || collection === undefined) {
      console.log(`    skipped: ${missing}`);
      return this.skip();
    }
    cluster = await startControlPlane({ controllers: ['*'] });
    api = apiOf(cluster);
    const crds = await installCrds(api);
    if (crds === undefined)
      console.log(
        '    kinds of Flux and Argo CD are left out: run test/core/schema/generate-crds.ts for their modules',
      );
    await travelAll(api, collection.files);
  });

  after(async () => {
    api?.close();
    await cluster?.stop();
  });

  async function travelAll(api: Api, files: readonly ManifestFile[]): Promise<void> {
    const locks = createLocks(atATime);
    // Files that bring namespaces are alone in these, and the others that stand in the same ones come after them.
    const bringing = files.filter(bringsNamespace);
    const brought = new Set(namespacesOf(bringing));
    const isInThem = (file: ManifestFile) => namespacesOf([file]).some((name) => brought.has(name));
    const after = files.filter((file) => isInThem(file) && !bringsNamespace(file));
    // Autoscalers take their time, so these files begin.
    const others = files
      .filter((file) => !isInThem(file))
      .sort((a, b) => Number(scales(b)) - Number(scales(a)));
    const inTheirOwn = async () => {
      await travelEach(api, locks, bringing, ['default']);
      await makeNamespaces(api, namespacesOf(after));
      await travelEach(api, locks, after, namespaces);
    };
    await makeNamespaces(api, [...namespaces, ...namespacesOf(others)]);
    await Promise.all([inTheirOwn(), travelEach(api, locks, others, namespaces)]);
  }

  /** Each file once for each maker; `free` are namespaces for objects that state none. */
  async function travelEach(
    api: Api,
    locks: Locks,
    files: readonly ManifestFile[],
    free: readonly string[],
  ): Promise<void> {
    const journeys: Promise<void>[] = [];
    for (const [index, file] of files.entries()) {
      const namespace = free[index % free.length] ?? 'default';
      const names = await namesTaken(api, file, namespace);
      for (const maker of makers) {
        const seed = createHash('sha256').update(`${file.path} ${maker}`).digest().readUInt32LE();
        const journey = { api, file, maker, namespace, random: seededRandom(seed), tally };
        journeys.push(locks.run(names, () => travel(journey)));
      }
    }
    await Promise.all(journeys);
  }

  it('plans nothing for what the server made of a manifest', () => {
    assert.deepEqual(tally.faults('read back'), []);
    const accepted = tally.manifests('accepted');
    assert.ok(accepted > 100, `only ${accepted} manifests were accepted`);
    assert.equal(tally.manifests('unchanged') + tally.manifests('never mirrored'), accepted);
  });

  it('changes exactly the lines of a live edit', () => {
    assert.deepEqual(tally.faults('edit'), []);
    const edits = tally.total('exact');
    assert.ok(edits > 5 * tally.manifests('unchanged'), `only ${edits} edits were made and exact`);
  });

  it('in numbers', () => {
    const manifests = collection?.files.flatMap((file) => file.manifests).length ?? 0;
    const leftOut = [...(collection?.leftOut ?? [])].map(([why, count]) => `${count} ${why}`).join(', ');
    console.log(`    left out: ${leftOut}`);
    for (const maker of makers)
      console.log(`    not accepted from ${maker}: ${tally.details(`not accepted from ${maker}`)}`);
    console.log(`    exact edits: ${tally.details('exact')}; none possible: ${tally.details('no edit')}`);
    const refused = tally.total('refused by design');
    const wrong = tally.faults('read back').length + tally.faults('edit').length;
    console.log(
      `    round trip: ${manifests} manifests, ${tally.manifests('accepted')} accepted, ` +
        `${tally.manifests('unchanged')} unchanged, ${tally.total('exact')} edits exact, ` +
        `${refused} refused by design (${tally.details('refused by design')}), ${wrong} wrong`,
    );
    // Each object was to be edited three times.
    const edits = tally.total('exact') + refused + tally.total('no edit');
    assert.equal(edits, 3 * tally.total('unchanged'));
  });
});

function partsMissing(): string | undefined {
  try {
    part('kube-apiserver');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What a file makes on the server, and what its autoscalers write to. */
async function namesTaken(api: Api, file: ManifestFile, namespace: string): Promise<string[]> {
  // A namespace takes along what is in it.
  const names = bringsNamespace(file) ? namespacesOf([file]) : [];
  for (const { id, value } of file.manifests) {
    const isNamespaced = await api.isNamespaced(String(value.apiVersion), id.kind);
    const own = isNamespaced ? { ...id, namespace: id.namespace || namespace } : { ...id, namespace: '' };
    const target = scaleTarget(value, id);
    names.push(
      objectKey(own),
      ...(target === undefined ? [] : [objectKey({ ...target, namespace: own.namespace })]),
    );
  }
  return names;
}

function bringsNamespace({ manifests }: ManifestFile): boolean {
  return manifests.some(({ id }) => id.kind === 'Namespace');
}

function scales({ manifests }: ManifestFile): boolean {
  return manifests.some(({ value, id }) => scaleTarget(value, id) !== undefined);
}

function namespacesOf(files: readonly ManifestFile[]): string[] {
  const all = files.flatMap(({ manifests }) =>
    manifests.map(({ id }) => (id.kind === 'Namespace' ? id.name : id.namespace)),
  );
  return [...new Set(all)].filter((name) => name !== '');
}

async function makeNamespaces(api: Api, names: readonly string[]): Promise<void> {
  for (const name of new Set(names)) {
    const answer = await api.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
    if (answer.kind === 'refused' && answer.reason !== 'AlreadyExists') throw new Error(answer.message);
  }
  for (const name of names) {
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await until(path, async () => (await api.get(path)).kind === 'ok');
  }
}
