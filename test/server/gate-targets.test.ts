import assert from 'node:assert/strict';
import { normaliseRepositoryUrl } from '../../src/core/repository-url.ts';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { until } from '../cluster/wait.ts';
import { type Running, startRunning } from '../controllers/running.ts';
import { gitProvider, gitTarget, kubeProvider } from '../controllers/samples.ts';

describe('the GitTargets that the gate is told of', function () {
  this.timeout(120_000);
  let running: Running;
  let git: GitServer;
  let repository: string;

  before(async () => {
    git = await startGitServer();
    await git.createRepository('config', { files: { 'README.md': '# config\n' } });
    await git.createRepository('other', { files: { 'README.md': '# other\n' } });
    repository = normaliseRepositoryUrl(git.url('config')) ?? '';
    running = await startRunning({ flags: { insecureAllowGitHttp: true } });
    await running.apply(
      kubeProvider('default', { allowCrossNamespace: { appliers: true } }),
      kubeProvider('closed', { allowedGitTargets: [] }),
      gitProvider('git', git.url('config')),
      gitProvider('elsewhere', `${git.url('other')}`),
      gitTarget('live', './apps/live/'),
      gitTarget('asleep', 'apps/asleep', { suspend: true }),
      gitTarget('refused', 'apps/refused', { kubeProviderRef: { name: 'closed' } }),
      gitTarget('other', 'apps/other', { gitProviderRef: { name: 'elsewhere' } }),
    );
    await running.condition('gitprovider', 'git', 'Ready=True/Succeeded');
    await running.condition('gittarget', 'live', 'Validated=True/Succeeded');
    await until('the other one is judged', async () => {
      const { status } = await running.get('gittarget', 'refused');
      return status.conditions?.some(({ type, status: is }) => type === 'Validated' && is !== 'True');
    });
  });
  after(async () => {
    await running?.stop();
    await git?.stop();
  });

  const told = () => {
    const targets = running.controllers.gateTargets(repository);
    assert.ok(targets !== undefined);
    return new Map(targets.map((target) => [target.key, target]));
  };

  it('are those of the asked repository, with branch and folder as they are compared', () => {
    assert.deepEqual([...told().keys()].sort(), ['shop/asleep', 'shop/live', 'shop/refused']);
    const live = told().get('shop/live');
    assert.deepEqual([live?.namespace, live?.branch, live?.path], ['shop', 'main', 'apps/live']);
  });

  it('may close a door only when they are valid, verified and mean to write', () => {
    const facts = (name: string) => {
      const { validated, credentialVerified, writes } = told().get(`shop/${name}`) ?? {};
      return [validated, credentialVerified, writes];
    };
    assert.deepEqual(facts('live'), [true, true, true]);
    assert.deepEqual(facts('asleep'), [true, true, false]);
    assert.equal(facts('refused')[0], false);
  });

  it('say whether their KubeProvider lets them guard other namespaces', () => {
    assert.equal(told().get('shop/live')?.crossNamespace, true);
    assert.equal(told().get('shop/refused')?.crossNamespace, false);
  });

  it('are not told of before our kinds were read, and then at once those whose credential was verified before', async () => {
    git.setFault('refuse');
    await running.restart();
    const first = running.controllers.gateTargets(repository);
    assert.equal(first, undefined, 'unknown is not none');
    await until('they are known again', () => running.controllers.gateTargets(repository) !== undefined);
    assert.equal(told().get('shop/live')?.credentialVerified, true, 'its status says so');
    git.setFault(undefined);
  });
});
