/**
 * Shows the main job on real parts: a hand-written folder, live edits with kubectl, and the commits they become.
 *
 * APPLIER=flux (the default) or argocd then shows an edit just before that applier applies, without the sidecar and with it.
 * CLUSTER=kind uses a kind cluster (needs Docker), KUBECONFIG=... the cluster that file names; otherwise an API server of
 * our own is started. Everything that was started is stopped at the end.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../cluster/folder.ts';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { freePort } from '../cluster/port.ts';
import { commitTo, diff, log, readFile, tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { type Applier, type ApplierName, applierMissing, applierNames, startApplier } from './applier.ts';
import { showApply } from './apply.ts';
import { type DemoCluster, demoCluster } from './cluster.ts';
import { files, folder, mirrored, namespace, provider } from './folder.ts';
import { note, print, say, shown, title } from './print.ts';
import { type DemoSidecar, startSidecar } from './sidecar.ts';

const startedAt = performance.now();
const scratch = temporaryFolder('demo');
const summary: string[] = [];
let cluster: DemoCluster | undefined;
let git: GitServer | undefined;
let sidecar: DemoSidecar | undefined;
let applier: Applier | undefined;

try {
  await demo();
} catch (error) {
  print(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  if (sidecar !== undefined)
    print(`\nThe sidecar's log ends with:\n${sidecar.log().split('\n').slice(-15).join('\n')}`);
  process.exitCode = 1;
} finally {
  await Promise.all([sidecar?.stop(), applier?.stop()]);
  await Promise.all([cluster?.stop(), git?.stop()]);
  await scratch.remove();
}

async function demo(): Promise<void> {
  title('Starting an API server, a git server and the sidecar');
  const parts = [demoCluster(), startGitServer()] as const;
  cluster = await parts[0];
  git = await parts[1];
  note(`API server: ${cluster.description}`);
  const bare = await git.createRepository('shop', {
    files,
    message: 'Describe the shop',
    author: 'Dev <dev@example.org>',
  });
  note(`git server: ${git.url('shop')}`);
  await cluster.kubectl(['apply', '--server-side', '-f', 'manifests/crds']);
  const wait = ['wait', '--for=condition=Established', '-f', 'manifests/crds', '--timeout=30s'];
  // kubectl fails at once on a CRD that has no conditions yet, so it is asked again.
  await until('our kinds are served', async () => cluster?.kubectl(wait).then(Boolean, () => false));
  await cluster.kubectl(['create', 'namespace', namespace]);
  for (const [path, text] of Object.entries(files)) {
    if (path.endsWith('.yaml')) await cluster.kubectl(['apply', '-n', namespace, '-f', '-'], text);
  }
  const door = `127.0.0.1:${await freePort()}`;
  applier = await applierBeside(cluster, door);
  sidecar = await startSidecar(cluster.kubeconfig, join(scratch.path, 'data'), door);
  await cluster.kubectl(
    ['apply', '-f', '-'],
    [provider, ...mirrored('shop', git.url('shop'), { idleTimeout: '1s', maxDuration: '10s' })]
      .map((one) => JSON.stringify(one))
      .join('\n---\n'),
  );
  await cluster.kubectl([
    'wait',
    'gittarget/shop',
    '-n',
    namespace,
    '--for=condition=Ready',
    '--timeout=60s',
  ]);
  await until(
    'every stream is live',
    async () => (await targetReason('StreamsRunning')) === 'AllStreamsReady',
  );
  note('nothing was committed: the cluster runs what Git says');
  print(await sidecar.command(['status']));

  await step(
    bare,
    'A person edits the Deployment',
    'kubectl edit deployment web   # MODE: plain -> dark',
    async (kube) => {
      await kube.edit('deployment/web', 's/value: plain/value: dark/');
    },
  );
  await step(
    bare,
    'A hotfix at night',
    'kubectl set image deployment/web web=registry.example/web:1.25.1',
    (kube) => kube.run(['set', 'image', 'deployment/web', 'web=registry.example/web:1.25.1']),
  );
  await step(bare, 'A slider in a UI', 'kubectl scale deployment web --replicas=5', (kube) =>
    kube.run(['scale', 'deployment', 'web', '--replicas=5']),
  );
  await step(
    bare,
    'One line inside a text block',
    'kubectl edit configmap settings   # "cart": 20 -> 25',
    async (kube) => {
      await kube.edit('configmap/settings', 's/"cart": 20/"cart": 25/');
    },
  );
  await step(bare, 'A new object', 'kubectl create service clusterip web --tcp=80:8080', (kube) =>
    kube.run(['create', 'service', 'clusterip', 'web', '--tcp=80:8080']),
  );
  await step(bare, 'A delete', 'kubectl delete configmap prices', (kube) =>
    kube.run(['delete', 'configmap', 'prices']),
  );
  await foreignPush(bare);
  if (applier !== undefined) summary.push(await showApply({ cluster, git, applier }));

  title('What the sidecar says now');
  print(await sidecar.command(['status']));
  title('Summary');
  for (const line of summary) say(line);
  say(
    `Took ${Math.round((performance.now() - startedAt) / 1000)} s. Nothing but your cluster and your repository holds the state.`,
  );
}

/** Undefined on a cluster of yours, where nothing else is installed, and when it is not built. */
async function applierBeside({ plane }: DemoCluster, door: string): Promise<Applier | undefined> {
  if (plane === undefined) return undefined;
  const name = applierNamed(process.env.APPLIER ?? '');
  const missing = applierMissing(name);
  if (missing === undefined) return startApplier(name, plane, door);
  note(`without ${name}, which is not built; "${missing}" builds it, once`);
  return undefined;
}

function applierNamed(text: string): ApplierName {
  if (text === '') return 'flux';
  const found = applierNames.find((name) => name === text);
  if (found === undefined) throw new Error(`APPLIER=${text} is neither of ${applierNames.join(' and ')}`);
  return found;
}

interface Kube {
  run(args: string[]): Promise<void>;
  edit(object: string, script: string): Promise<void>;
}

async function step(
  bare: string,
  name: string,
  command: string,
  act: (kube: Kube) => Promise<void>,
): Promise<void> {
  title(name);
  shown(command);
  const before = await mainTip(bare);
  await act(kube());
  const acted = performance.now();
  await until(`a commit for "${name}"`, async () => (await mainTip(bare)) !== before, {
    timeoutMs: 20_000,
  });
  const took = ((performance.now() - acted) / 1000).toFixed(1);
  await report(bare, before, `on the remote ${took} s after the command (window: 1 s of silence)`);
  summary.push(`${name}: ${await changedLines(bare, before)}`);
}

/** Somebody else pushes between our edit and our push: both survive, nothing is forced. */
async function foreignPush(bare: string): Promise<void> {
  title('A colleague pushes while an edit is on its way');
  const before = await mainTip(bare);
  shown('kubectl scale deployment web --replicas=6');
  await kube().run(['scale', 'deployment', 'web', '--replicas=6']);
  const text = (files[`${folder}/settings.yaml`] ?? '').split('---')[0] ?? '';
  const theirs = text.replace('Welcome', 'Autumn sale').replace('"cart": 20', '"cart": 25');
  await commitTo(
    bare,
    'main',
    { [`${folder}/settings.yaml`]: theirs },
    { message: 'Announce the sale', author: 'Colleague <colleague@example.org>' },
  );
  say('the colleague pushed "Announce the sale" first');
  await until(
    'both commits',
    async () =>
      (await log(bare, 'main')).some(
        ({ files: changed, author }) => changed.includes(`${folder}/web.yaml`) && author !== 'Dev',
      ) && (await replicas(bare)) === '6',
  );
  const history = (await log(bare, 'main')).slice(0, 2);
  for (const commit of history) say(`${commit.sha.slice(0, 9)} ${commit.author}: ${commit.subject}`);
  await report(bare, before, 'both sides are there, in a straight history');
  summary.push('A colleague pushes first: their line and ours, no force, no merge');
}

async function report(bare: string, before: string, words: string): Promise<void> {
  const [newest] = await log(bare, 'main');
  if (newest === undefined) throw new Error('the branch has no commit');
  say(`commit ${newest.sha.slice(0, 9)}: ${newest.subject}`);
  print(trimmed(await diff(bare, before, newest.sha)));
  note(words);
}

/** Without git's headers: the file and the lines. */
function trimmed(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^(?:diff --git|index |--- |new file|deleted file)/.test(line))
    .map((line) => line.replace(/^\+\+\+ (?:b\/)?/, 'file '))
    .join('\n')
    .trimEnd();
}

async function changedLines(bare: string, before: string): Promise<string> {
  const lines = (await diff(bare, before, await mainTip(bare))).split('\n');
  const added = lines.filter((line) => /^\+(?!\+\+)/.test(line)).length;
  const removed = lines.filter((line) => /^-(?!--)/.test(line)).length;
  return `${removed} line(s) out, ${added} line(s) in`;
}

async function mainTip(bare: string): Promise<string> {
  const found = await tip(bare, 'main');
  if (found === undefined) throw new Error('the branch main is gone');
  return found;
}

async function replicas(bare: string): Promise<string | undefined> {
  return /replicas: (\d+)/.exec((await readFile(bare, 'main', `${folder}/web.yaml`)) ?? '')?.[1];
}

async function targetReason(type: string): Promise<string> {
  const path = `jsonpath={.status.conditions[?(@.type=="${type}")].reason}`;
  return cluster?.kubectl(['get', 'gittarget', 'shop', '-n', namespace, '-o', path]) ?? '';
}

function kube(): Kube {
  return {
    async run(args) {
      await cluster?.kubectl([...args, '-n', namespace]);
    },
    async edit(object, script) {
      // kubectl edit opens an editor on a file; this one is sed.
      const editor = join(scratch.path, 'editor');
      writeFileSync(editor, `#!/bin/sh\nexec sed -i '${script}' "$1"\n`);
      chmodSync(editor, 0o755);
      await cluster?.kubectl(['edit', object, '-n', namespace], undefined, { KUBE_EDITOR: editor });
    },
  };
}
