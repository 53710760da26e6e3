/** GitTargets and rules on a real API server: who may run, and with what. */
import assert from 'node:assert/strict';
import type { GitServer } from '../cluster/git-server.ts';
import { until } from '../cluster/wait.ts';
import type { Observed, Running } from './running.ts';
import { gitProvider, gitTarget, kubeProvider, watchRule } from './samples.ts';
import { startScene, stopScene } from './scene.ts';

describe('a GitTarget on a real API server', function () {
  this.timeout(120_000);
  let git: GitServer;
  let running: Running;

  before(async function () {
    ({ git, running } = await startScene(this));
    await running.kubectl('create', 'namespace', 'lent');
    await running.kubectl('create', 'namespace', 'private');
    await running.apply(kubeProvider('default'), gitProvider('git', git.url('shop')));
  });
  after(() => stopScene({ git, running }));

  function message(object: Observed, type = 'Ready'): string {
    return object.status.conditions?.find((condition) => condition.type === type)?.message ?? '';
  }

  async function started(name: string, path: string, spec: object = {}): Promise<void> {
    await running.apply(gitTarget(name, path, spec));
    await running.condition('gittarget', name, 'Ready=True/Succeeded');
  }

  describe('is refused before anything is watched', () => {
    it('on a branch that is not allowed', async () => {
      await running.apply(gitTarget('elsewhere', 'a', { branch: 'dev' }));
      const target = await running.condition('gittarget', 'elsewhere', 'Validated=False/BranchNotAllowed');
      assert.match(message(target), /BranchNotAllowed: GitProvider git allows main, env\/\*, not dev/);
      assert.equal(running.mirror.spec('shop/elsewhere'), undefined);
      assert.deepEqual(await running.events('elsewhere'), ['Warning ValidationFailed']);
    });

    it('with a template that cannot be used', async () => {
      await running.apply(
        gitTarget('wordy', 'b', { commit: { message: { liveTemplate: 'sync {{.Everything}}' } } }),
      );
      const target = await running.condition('gittarget', 'wordy', 'Validated=False/InvalidConfig');
      assert.match(message(target, 'Validated'), /liveTemplate/);
    });

    it('with encryption whose Secret is not named, not there, or may not be made', async () => {
      const age = (recipients: object) => ({ age: { enabled: true, recipients } });
      const secretRef = { name: 'sops-age' };
      await running.apply(
        gitTarget('nameless', 'c', { encryption: age({ extractFromSecret: true }) }),
        gitTarget('keyless', 'd', { encryption: { secretRef, ...age({ extractFromSecret: true }) } }),
        gitTarget('maker', 'e', { encryption: { secretRef, ...age({ generateWhenMissing: true }) } }),
      );
      await running.condition('gittarget', 'nameless', 'EncryptionConfigured=False/InvalidConfig');
      await running.condition('gittarget', 'keyless', 'EncryptionConfigured=False/MissingSecret');
      await running.condition('gittarget', 'maker', 'EncryptionConfigured=False/SecretCreateDisabled');
      for (const name of ['nameless', 'keyless', 'maker']) {
        await running.condition('gittarget', name, 'Ready=False/EncryptionNotConfigured');
        assert.equal(running.mirror.spec(`shop/${name}`), undefined);
        await running.remove('gittarget', name, '-n', 'shop');
      }
    });

    it('inside the folder of an older one, also through another GitProvider; and runs once that is gone', async () => {
      await started('older', 'apps');
      await running.apply(gitProvider('twin', `${git.url('shop')}/`));
      await running.apply(gitTarget('younger', 'apps/web', { gitProviderRef: { name: 'twin' } }));
      const target = await running.condition('gittarget', 'younger', 'Validated=False/TargetConflict');
      assert.match(message(target), /shop\/older/);
      assert.equal(running.mirror.spec('shop/younger'), undefined);
      await running.remove('gittarget', 'older', '-n', 'shop');
      await running.condition('gittarget', 'younger', 'Ready=True/Succeeded');
      await until('the older one to be taken out', () => running.mirror.spec('shop/older') === undefined);
      assert.ok(running.mirror.spec('shop/younger'));
      await running.remove('gittarget', 'younger', '-n', 'shop');
    });

    it('from a namespace that the KubeProvider does not admit, and stops at once when it is admitted no more', async () => {
      await running.apply(kubeProvider('guarded', { allowedGitTargets: [] }));
      await running.apply(
        gitTarget('guest', 'guest', { kubeProviderRef: { name: 'guarded' } }),
        watchRule('guests', 'guest', [{ resources: ['configmaps'] }]),
      );
      await running.condition('gittarget', 'guest', 'Validated=False/NamespaceNotAuthorized');
      await running.condition('watchrule', 'guests', 'Ready=False/AccessDenied');
      const bySelector = {
        consumerNamespaces: { from: 'Selector', selector: { matchLabels: { team: 'blue' } } },
      };
      await running.apply(kubeProvider('guarded', { allowedGitTargets: [bySelector] }));
      await running.kubectl('label', 'namespace', 'shop', 'team=blue');
      await running.condition('gittarget', 'guest', 'Ready=True/Succeeded');
      await running.condition('watchrule', 'guests', 'Ready=True/Succeeded');
      await running.kubectl('label', 'namespace', 'shop', 'team-');
      await until('the target to be taken out', () => running.mirror.spec('shop/guest') === undefined, {
        timeoutMs: 2_000,
      });
      await running.condition('gittarget', 'guest', 'Validated=False/NamespaceNotAuthorized');
    });

    it('without its KubeProvider', async () => {
      await running.apply(gitTarget('lost', 'lost', { kubeProviderRef: { name: 'nowhere' } }));
      await running.condition('gittarget', 'lost', 'Validated=False/KubeProviderNotFound');
    });
  });

  describe('with rules', () => {
    before(async () => {
      await running.apply(
        kubeProvider('lending', {
          allowedGitTargets: [{ consumerNamespaces: { from: 'All' }, sourceNamespaces: ['lent'] }],
        }),
      );
      await started('ruled', 'ruled', { kubeProviderRef: { name: 'lending' } });
    });

    it('follows a lent namespace, and refuses the whole rule when one item is not', async () => {
      await running.apply(
        watchRule('lent', 'ruled', [{ resources: ['configmaps'], sourceNamespace: 'lent' }]),
      );
      await running.condition('watchrule', 'lent', 'SourceNamespaceAuthorized=True/SourceNamespaceAllowed');
      await until('the collection', () =>
        running.mirror.spec('shop/ruled')?.collections.some(({ namespace }) => namespace === 'lent'),
      );
      await running.apply(
        watchRule('lent', 'ruled', [
          { resources: ['configmaps'], sourceNamespace: 'lent' },
          { resources: ['configmaps'], sourceNamespace: 'private' },
        ]),
      );
      const rule = await running.condition('watchrule', 'lent', 'Stalled=True/SourceNamespaceNotAllowed');
      assert.match(message(rule), /rules\[1\] asks for private/);
      await until('its collections to go', () => running.mirror.spec('shop/ruled')?.collections.length === 0);
      await running.remove('watchrule', 'lent', '-n', 'shop');
    });

    it('watches one collection once, however many rules name it', async () => {
      await running.apply(
        watchRule('one', 'ruled', [
          { resources: ['services'] },
          { resources: ['services'], objectSelector: { matchLabels: { a: 'b' } } },
        ]),
        watchRule('two', 'ruled', [{ apiGroups: [''], resources: ['Services'] }]),
      );
      await running.condition('watchrule', 'two', 'Ready=True/Succeeded');
      const selectors = () =>
        running.mirror
          .spec('shop/ruled')
          ?.collections.map(({ resource, labelSelector }) => `${resource} ${labelSelector}`)
          .sort();
      await until('both collections', () => selectors()?.length === 2);
      assert.deepEqual(selectors(), ['services ', 'services a=b']);
      await running.remove('watchrule', 'one', 'two', '-n', 'shop');
    });

    it('notices a new type soon after its CRD, and not only every 30 s', async () => {
      await running.apply(watchRule('gadgets', 'ruled', [{ resources: ['gadgets'] }]));
      await running.condition('watchrule', 'gadgets', 'ResourcesResolved=False/ResourcesNotServed');
      await running.apply(gadgets);
      await running.condition('watchrule', 'gadgets', 'Ready=True/Succeeded');
      assert.equal(running.mirror.spec('shop/ruled')?.collections[0]?.resource, 'gadgets');
    });

    it('says which type may not be watched', async () => {
      const [collection] = running.mirror.spec('shop/ruled')?.collections ?? assert.fail();
      assert.ok(collection !== undefined);
      const state = {
        phase: 'blocked',
        reason: 'WatchNotPermitted',
        message: 'gadgets is forbidden',
      } as const;
      running.mirror.change('shop/ruled', { streams: [{ collection, state }] });
      const target = await running.condition('gittarget', 'ruled', 'Stalled=True/WatchNotPermitted');
      assert.match(message(target), /gadgets\.example\.com in shop: gadgets is forbidden/);
      await running.condition('watchrule', 'gadgets', 'StreamsRunning=False/WatchNotPermitted');
      running.mirror.change('shop/ruled', { streams: [{ collection, state: { phase: 'streaming' } }] });
      await running.condition('gittarget', 'ruled', 'Ready=True/Succeeded');
      assert.deepEqual((await running.events('ruled')).slice(-2), [
        'Warning WatchNotPermitted',
        'Normal Succeeded',
      ]);
    });
  });
});

const gadgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
