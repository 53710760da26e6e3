/** The same steps twice, without the sidecar and with it: an edit, then an apply of a commit that does not hold it. */
import type { GitServer } from '../cluster/git-server.ts';
import { commitTo, log, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import type { Applier } from './applier.ts';
import type { DemoCluster } from './cluster.ts';
import { files, folder, guardedName, mirrored } from './folder.ts';
import { note, say, shown, title } from './print.ts';

const bareName = 'without';

interface Stage {
  readonly cluster: DemoCluster;
  readonly git: GitServer;
  readonly applier: Applier;
}

/** Returns the line for the summary. */
export async function showApply(stage: Stage): Promise<string> {
  const lost = await play(stage, bareName);
  const kept = await play(stage, guardedName);
  return `An edit just before ${stage.applier.title} applies: ${lost} replicas without the sidecar, ${kept} with it`;
}

/** Returns the replicas that are left in the end. */
async function play({ cluster, git, applier }: Stage, name: string): Promise<string> {
  const guarded = name === guardedName;
  title(`An edit just before ${applier.title} applies, ${guarded ? 'with' : 'without'} the sidecar`);
  const bare = await git.createRepository(name, {
    files: { ...files, ...(guarded ? applier.doorFiles : {}) },
    author: 'Dev <dev@example.org>',
  });
  await cluster.kubectl(['create', 'namespace', name]);
  await applyObjects(cluster, applier.objects(name, git.url(name), guarded));
  if (applier.title !== 'Flux') await applier.ask(name);
  await applier.applied(name, await newest(bare));
  if (guarded) {
    // A long silence, so that it is the apply that makes the edit a commit.
    await applyObjects(cluster, mirrored(name, git.url(name), { idleTimeout: '5m', maxDuration: '10m' }));
    for (const condition of ['Ready', 'StreamsRunning'])
      await cluster.kubectl([
        ...['wait', `gittarget/${name}`, '-n', name, `--for=condition=${condition}`, '--timeout=90s'],
      ]);
  }
  const live = (object: string, path: string) =>
    cluster.kubectl(['get', object, '-n', name, '-o', `jsonpath={${path}}`]);
  note(`${applier.title} has applied the folder: replicas ${await live('deployment/web', '.spec.replicas')}`);

  const scale = ['scale', 'deployment/web', '-n', name, '--replicas=6'];
  shown(`kubectl ${scale.join(' ')}`);
  await cluster.kubectl(scale);
  const text = (files[`${folder}/settings.yaml`] ?? '').replace('Welcome', 'Autumn sale');
  const theirs = await commitTo(
    bare,
    'main',
    { [`${folder}/settings.yaml`]: text },
    { message: 'Announce the sale', author: 'Colleague <colleague@example.org>' },
  );
  say(`a colleague pushes ${theirs.slice(0, 9)} "Announce the sale"; it knows nothing of the edit`);
  await applier.ask(name);
  await until(
    'the sale is live',
    async () => (await live('configmap/settings', '.data.banner')) === 'Autumn sale',
    { timeoutMs: 120_000, intervalMs: 100 },
  );
  await applier.applied(name, await newest(bare));

  const replicas = await live('deployment/web', '.spec.replicas');
  say(`live: banner "Autumn sale", replicas ${replicas}${replicas === '6' ? '' : ': the edit is lost'}`);
  say(`Git:  ${inGit((await readFile(bare, 'main', `${folder}/web.yaml`)) ?? '')}`);
  for (const { sha, author, subject } of (await log(bare, 'main')).slice(0, guarded ? 2 : 1))
    say(`      ${sha.slice(0, 9)} ${author}: ${subject}`);
  return replicas;
}

function inGit(text: string): string {
  return /replicas:.*/.exec(text)?.[0] ?? '';
}

async function newest(bare: string): Promise<string> {
  const found = await tip(bare, 'main');
  if (found === undefined) throw new Error('the branch main is gone');
  return found;
}

async function applyObjects(cluster: DemoCluster, objects: readonly object[]): Promise<void> {
  await cluster.kubectl(['apply', '-f', '-'], objects.map((one) => JSON.stringify(one)).join('\n---\n'));
}
