import assert from 'node:assert/strict';
import { type Argocd, startArgocd } from './argocd.ts';
import { application, untilApplication } from './argocd-objects.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { kubectl } from './kubectl.ts';
import { commitTo } from './repository.ts';

const manifest = (colour: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: paint
data:
  colour: ${colour}
`;

describe('Argo CD', function () {
  this.timeout(300_000);
  let cluster: ControlPlane;
  let git: GitServer;
  let argocd: Argocd;

  before(async () => {
    [cluster, git] = await Promise.all([startControlPlane(), startGitServer()]);
    argocd = await startArgocd(cluster, {
      plugins: [
        {
          name: 'upper',
          config: `apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata: {name: upper}
spec:
  generate:
    command: [sh, -c, 'sed s/red/RED/ paint.yaml']
`,
        },
      ],
    });
    await git.createRepository('paint', { files: { 'apps/paint/paint.yaml': manifest('red') } });
  });
  after(async () => {
    await argocd?.stop();
    await Promise.all([cluster?.stop(), git?.stop()]);
  });

  it('syncs an Application from our git server, at the word of its CLI', async () => {
    await create({ name: 'paint' });
    const first = await argocd.cli('app', 'sync', 'paint', '--timeout', '90');
    assert.equal(first.code, 0, first.stderr);
    assert.equal(await colour('paint'), 'red');

    const tip = await commitTo(git.bareDir('paint'), 'main', { 'apps/paint/paint.yaml': manifest('blue') });
    const second = await argocd.cli('app', 'sync', 'paint', '--timeout', '90');
    assert.equal(second.code, 0, second.stderr);
    assert.equal(await colour('paint'), 'blue');
    const { status } = await untilApplication(cluster, 'paint', 'is synced', (one) => {
      return one.status?.sync?.status === 'Synced' && one.status.operationState?.phase === 'Succeeded';
    });
    assert.equal(status?.sync?.revision, tip);
  });

  it('renders through a plugin that the Application names', async () => {
    await commitTo(git.bareDir('paint'), 'main', { 'apps/paint/paint.yaml': manifest('red') });
    await create({ name: 'upper', plugin: 'upper' });
    const synced = await argocd.cli('app', 'sync', 'upper', '--timeout', '90');
    assert.equal(synced.code, 0, synced.stderr);
    assert.equal(await colour('upper'), 'RED');
  });

  async function create(options: { readonly name: string; readonly plugin?: string }): Promise<void> {
    const wanted = application({ ...options, repoURL: git.url('paint'), path: 'apps/paint' });
    const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: options.name } }, wanted];
    const stdin = objects.map((one) => JSON.stringify(one)).join('\n---\n');
    const { code, stderr } = await kubectl(cluster, ['apply', '-f', '-'], { stdin });
    assert.equal(code, 0, stderr);
  }

  async function colour(namespace: string): Promise<string> {
    const query = ['get', 'configmap', 'paint', '-n', namespace, '-o', 'jsonpath={.data.colour}'];
    return (await kubectl(cluster, query)).stdout;
  }
});
