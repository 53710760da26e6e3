/** `status` and `flush`, run by people with their own rights against a real API server and the real controllers. */
import assert from 'node:assert/strict';
import { BadInput } from '../../src/cli/bad-input.ts';
import { runFlush } from '../../src/cli/flush.ts';
import { type ClusterOptions, personCluster } from '../../src/cli/own-kinds.ts';
import { runStatus, type TargetLine } from '../../src/cli/status.ts';
import { refuse } from '../../src/core/refusal.ts';
import { systemClock } from '../../src/kube/clock.ts';
import type { GitServer } from '../cluster/git-server.ts';
import { until } from '../cluster/wait.ts';
import { doneFlush, quietBranch } from './recording-mirror.ts';
import { applyCrds, type Running } from './running.ts';
import { gitProvider, gitTarget, kubeProvider, watchRule } from './samples.ts';
import { startScene, stopScene } from './scene.ts';

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describe('the commands of people', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this, {
      running: { bare: true, flags: { insecureAllowGitHttp: true } },
    }));
  });
  after(() => stopScene({ git, running }));

  async function as(
    user: string,
    run: (
      cluster: ReturnType<typeof personCluster>,
      out: (line: string) => void,
      err: (line: string) => void,
    ) => Promise<number>,
  ): Promise<Printed> {
    const out: string[] = [];
    const err: string[] = [];
    const cluster = personCluster({ kubeconfig: running.cluster.kubeconfigFor(user) }, '0.0.0-test');
    try {
      const code = await run(
        cluster,
        (line) => out.push(line),
        (line) => err.push(line),
      );
      return { code, out: out.join('\n'), err: err.join('\n') };
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      return { code: 2, out: out.join('\n'), err: error.message };
    } finally {
      await cluster.client.close();
    }
  }

  const status = (user: string, target?: string, output: 'table' | 'json' = 'table') =>
    as(user, (cluster, out, err) => runStatus(cluster, { target, output }, out, err));
  const flush = (user: string, target: string, timeoutMs = 15_000) =>
    as(user, (cluster, out, err) => runFlush(cluster, { target, timeoutMs, clock: systemClock }, out, err));

  it('say that the CRDs are missing, and what to do', async () => {
    for (const printed of [
      await status('admin'),
      await status('admin', 'shop/live'),
      await flush('admin', 'shop/live'),
    ]) {
      assert.equal(printed.code, 2);
      assert.match(printed.err, /does not serve GitTarget .*gitops-reverser crds \| kubectl apply -f -/);
    }
    await applyCrds(running.cluster);
  });

  it('say that there is nothing yet', async () => {
    assert.deepEqual(await status('admin'), { code: 0, out: '', err: 'there is no GitTarget' });
    assert.deepEqual(await status('admin', 'shop/live'), {
      code: 2,
      out: '',
      err: 'there is no GitTarget shop/live',
    });
    assert.equal((await status('admin', 'live')).err, '"live" is no NAMESPACE/NAME of a GitTarget');
  });

  it('show targets, with what is refused', async () => {
    await until('the controllers to be ready', () => running.controllers.ready());
    await running.apply(
      kubeProvider('default'),
      gitProvider('git', git.url('shop')),
      gitTarget('live', 'live'),
      gitTarget('stuck', 'stuck', { branch: 'dev' }),
      watchRule('maps', 'live', [{ resources: ['configmaps'] }]),
    );
    await running.condition('gittarget', 'live', 'Ready=True/Succeeded');
    await running.condition('gittarget', 'stuck', 'Ready=False/ValidationFailed');
    running.mirror.change('shop/live', { refused: [refuse('NotEditable', 'an anchor is in the way')] });
    await until('the refusal', async () => (await status('admin')).out.includes('an anchor'));
    const { code, out } = await status('admin');
    assert.equal(code, 0);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^TARGET +READY +REASON +STREAMS +PENDING +BRANCH +COMMIT +SEEN$/);
    assert.match(
      lines[1] ?? '',
      /^shop\/live +True +Succeeded +1\/1 +0 +main +aaaaaaaaaaaa +2026-01-01T00:00:00Z$/,
    );
    assert.match(lines[2] ?? '', /^shop\/stuck +False +ValidationFailed +- +- +dev +- +-$/);
    assert.match(
      out,
      /^shop\/live: .*1 edit is refused: NotEditable: an anchor is in the way \(repository-author\)$/m,
    );
    assert.match(out, /^shop\/stuck: BranchNotAllowed: /m);
    running.mirror.change('shop/live', { refused: [] });
  });

  it('print JSON for programs', async () => {
    const { out } = await status('admin', 'shop/live', 'json');
    const [line]: TargetLine[] = JSON.parse(out);
    assert.ok(line !== undefined);
    assert.deepEqual(
      [line.namespace, line.name, line.ready, line.branch, line.path],
      ['shop', 'live', 'True', 'main', 'live'],
    );
  });

  it('work with the rights of one namespace, and say what those without cannot do', async () => {
    const denied = await status('bob');
    assert.equal(denied.code, 2);
    assert.match(denied.err, /^not allowed: .*gittargets.*bob|^not allowed: /);
    await running.kubectl(
      'create',
      'role',
      'reader',
      '-n',
      'shop',
      '--verb=get,list',
      '--resource=gittargets.configbutler.ai,gitbranches.configbutler.ai',
    );
    await running.kubectl('create', 'rolebinding', 'reader', '-n', 'shop', '--role=reader', '--user=bob');
    const one = await status('bob', 'shop/live');
    assert.equal(one.code, 0);
    assert.match(one.out, /^shop\/live +True/m);
    const all = await as('bob', (cluster, out, err) =>
      runStatus({ ...cluster, namespace: 'shop' }, { output: 'table' }, out, err),
    );
    assert.match(all.err, /these are the ones of shop/);
    assert.match(all.out, /^shop\/live +True/m);
    const noFlush = await flush('bob', 'shop/live');
    assert.equal(noFlush.code, 2);
    assert.match(noFlush.err, /^not allowed: /);
  });

  it('flush, wait for the end, and name the commit', async () => {
    const commit = 'b'.repeat(40);
    running.mirror.flushAnswer = async (target) => {
      running.mirror.seen.set(target, {
        branch: { ...quietBranch, tip: commit, lastPushedCommit: commit, verifiedBy: 'Push' },
      });
      return { ...doneFlush, tip: commit, published: [{ target, commit }] };
    };
    const first = await flush('admin', 'shop/live');
    assert.deepEqual([first.code, first.out], [0, 'shop/live: published bbbbbbbbbbbb']);
    assert.match(first.err, /^asked the sidecar to publish/);
    running.mirror.flushAnswer = async () => ({ ...doneFlush, tip: commit });
    const second = await flush('admin', 'shop/live');
    assert.deepEqual(
      [second.code, second.out],
      [0, 'shop/live: nothing was left to publish; the branch is at bbbbbbbbbbbb'],
    );
  });

  it('flush in vain: exit 1, and why', async () => {
    running.mirror.flushAnswer = async (target) => {
      const failure = { reason: 'PushRefused', message: 'branch main is protected', since: 0 } as const;
      running.mirror.seen.set(target, { branch: { ...quietBranch, failure, pendingWrites: 3 } });
      return {
        ...doneFlush,
        pending: 3,
        closed: { reason: 'PushRefused', message: 'branch main is protected' },
      };
    };
    const { code, out, err } = await flush('admin', 'shop/live');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /3 edits still wait/);
    assert.match(err, /PushRefused: branch main is protected/);
    running.mirror.seen.delete('shop/live');
  });

  it('flush a target that does not run, and one that nobody answers for', async () => {
    await running.controllers.stop();
    const { code, err } = await flush('admin', 'shop/live', 1_000);
    assert.equal(code, 1);
    assert.match(err, /no answer within 1 s; is the sidecar running\?/);
  });

  it('say what is wrong with a kubeconfig', async () => {
    const open = (options: ClusterOptions) => () => personCluster(options, '0.0.0-test');
    assert.throws(open({ kubeconfig: '/does/not/exist' }), /there is no kubeconfig \/does\/not\/exist/);
    assert.throws(
      open({ kubeconfig: running.cluster.kubeconfig, context: 'other' }),
      /has no context "other"; it has test/,
    );
  });

  it('say that the cluster does not answer', async () => {
    await running.cluster.apiServer.kill();
    const { code, err } = await status('admin');
    assert.equal(code, 2);
    assert.match(err, /^the cluster does not answer: /);
  });
});
