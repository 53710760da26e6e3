/**
 * What the roles of the doors allow, tried on the real API server with the service accounts of the installations: RBAC and
 * the admission policies that limit a patch to what the door needs.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argocdModule } from '../cluster/argocd.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { installCrds } from '../cluster/flux.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { until } from '../cluster/wait.ts';

const manifests = join(import.meta.dirname, '../../manifests');
const fluxAccount = 'system:serviceaccount:flux-system:gitops-reverser';
const argocdAccount = 'system:serviceaccount:argocd:argocd-repo-server';
/** An administrator of Flux's own, as kustomize-controller is in most installations. */
const controller = 'system:serviceaccount:flux-system:kustomize-controller';

const source = { repoURL: 'https://git.example.com/team/config', path: 'apps/shop', targetRevision: 'main' };
const patience = { timeoutMs: 60_000 };
const operationState = {
  phase: 'Running',
  startedAt: '2026-01-01T00:00:00Z',
  message: 'waiting',
  operation: { sync: { revision: 'a'.repeat(40), source } },
};

describe('the roles of the doors', function () {
  this.timeout(180_000);
  let cluster: ControlPlane;

  before(async function () {
    const crds = applicationCrd();
    if (crds === undefined) {
      console.log('      skipped: the Go module of Argo CD is not in the module cache (make parts)');
      return this.skip();
    }
    cluster = await startControlPlane({ controllers: false });
    await installCrds(cluster);
    await must(['apply', '--server-side', '-f', crds]);
    // kubectl wait fails on a CRD that has no conditions yet.
    const list = ['get', 'applications.argoproj.io', '-A'];
    await until('Applications are served', async () => (await kubectl(cluster, list)).code === 0, patience);
    for (const name of ['flux-system', 'argocd', 'shop']) await must(['create', 'namespace', name]);
    for (const file of [
      'rbac/core.yaml',
      'rbac/flux-door.yaml',
      'rbac/argocd-door.yaml',
      'rbac/secrets.yaml',
      'flux/role.yaml',
      'argocd/role.yaml',
    ])
      await must(['apply', '-f', join(manifests, file)]);
    await must([
      'create',
      'clusterrolebinding',
      'flux-admin',
      '--clusterrole=cluster-admin',
      `--serviceaccount=flux-system:kustomize-controller`,
    ]);
    await must(['apply', '-f', '-'], objects.map((one) => JSON.stringify(one)).join('\n---\n'));
    const state = JSON.stringify({ status: { operationState, sync: { status: 'OutOfSync' } } });
    await must(['patch', 'application', 'shop', '-n', 'shop', '--type=merge', '-p', state]);
    // A policy is in force some moments after it is stored.
    await until(
      'the policies are in force',
      async () => {
        const flux = await patch(fluxAccount, 'gitrepository', { spec: { interval: '2h' } });
        const argocd = await patch(argocdAccount, 'application', { spec: { project: 'other' } });
        return flux.includes('may not change the spec') && argocd.includes('may not change the spec');
      },
      patience,
    );
  });
  after(() => cluster?.stop());

  async function must(args: readonly string[], stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await kubectl(cluster, args, { stdin });
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** Tries a merge patch of the object named `shop`, on the server, without storing it. '' = allowed, else why not. */
  async function patch(account: string, kind: string, body: object, ...further: string[]): Promise<string> {
    const args = ['patch', kind, 'shop', '-n', 'shop', '--type=merge', '--dry-run=server', `--as=${account}`];
    const groups = ['--as-group=system:serviceaccounts', '--as-group=system:authenticated'];
    const tried = await kubectl(cluster, [...args, ...groups, ...further, '-p', JSON.stringify(body)]);
    return tried.code === 0 ? '' : tried.stderr.trim();
  }

  async function can(account: string, line: string): Promise<boolean> {
    const [verb = '', resource = '', namespace = 'shop'] = line.split(' ');
    const { stdout } = await kubectl(cluster, [
      'auth',
      'can-i',
      verb,
      resource,
      '-n',
      namespace,
      `--as=${account}`,
    ]);
    return stdout.trim() === 'yes';
  }

  const requested = { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': 'now' } } };
  for (const kind of ['gitrepository', 'kustomization']) {
    it(`the Flux door may ask for a ${kind} to be looked at, and change nothing else of it`, async () => {
      assert.equal(await patch(fluxAccount, kind, requested), '');
      const refused: [object, RegExp][] = [
        [{ spec: { suspend: true } }, /may not change the spec/],
        [{ metadata: { labels: { a: 'b' } } }, /may not change labels/],
        [{ metadata: { finalizers: ['example.org/x'] } }, /may not change labels, finalizers/],
        [{ metadata: { annotations: { 'configbutler.ai/door': 'open' } } }, /only change reconcile/],
        [{ metadata: { annotations: { kept: null } } }, /only change reconcile/],
        [{ ...requested, spec: { interval: '1s' } }, /may not change the spec/],
      ];
      for (const [body, words] of refused) assert.match(await patch(fluxAccount, kind, body), words);
      assert.match(await patch(fluxAccount, kind, { status: {} }, '--subresource=status'), /is forbidden/);
    });
  }

  it('the Flux door may not make or delete what it stamps, nor touch what is applied', async () => {
    const allowed = [
      'get gitrepositories',
      'list gitrepositories',
      'get kustomizations',
      'list kustomizations',
      'watch kustomizations',
      'list externalartifacts',
      'watch externalartifacts',
    ];
    for (const line of allowed) assert.equal(await can(fluxAccount, line), true, line);
    const forbidden = [
      'create gitrepositories',
      'delete kustomizations',
      'patch deployments',
      'patch applications',
      'patch externalartifacts',
    ];
    for (const line of forbidden) assert.equal(await can(fluxAccount, line), false, line);
  });

  it('the policies limit nobody else: neither Flux with all rights nor a person', async () => {
    assert.equal(await patch(controller, 'gitrepository', { spec: { interval: '2h' } }), '');
    assert.equal(await patch(controller, 'application', { spec: { project: 'other' } }), '');
    await must([
      'patch',
      'kustomization',
      'shop',
      '-n',
      'shop',
      '--type=merge',
      '-p',
      '{"spec":{"interval":"2h"}}',
    ]);
  });

  it('the Argo CD door may refresh, leave a notice, end a running sync and ask for one', async () => {
    const annotations = {
      'argocd.argoproj.io/refresh': 'normal',
      'notice.argocd.argoproj.io/content': '2 edits are not in Git yet',
      'notice.argocd.argoproj.io/severity': 'info',
    };
    const sync = { revision: 'b'.repeat(40), prune: true };
    const allowed = [
      { metadata: { annotations } },
      { status: { operationState: { phase: 'Terminating' } } },
      { operation: { sync } },
      { operation: { sync: { ...sync, source }, info: [{ name: 'gitops-reverser', value: 'again' }] } },
    ];
    for (const body of allowed) assert.equal(await patch(argocdAccount, 'application', body), '');
  });

  it('the Argo CD door may not change what is applied, from where, or what Argo CD says of it', async () => {
    const operation = (sync: object) => ({ operation: { sync: { revision: 'b'.repeat(40), ...sync } } });
    const refused: [object, RegExp][] = [
      [{ spec: { source: { path: 'elsewhere' } } }, /may not change the spec/],
      [{ metadata: { labels: { a: 'b' } } }, /may not change labels/],
      [{ metadata: { finalizers: ['example.org/x'] } }, /may not change labels, finalizers/],
      [
        { metadata: { annotations: { 'configbutler.ai/door': 'open' } } },
        /only change the refresh and the notice/,
      ],
      [{ metadata: { annotations: { kept: null } } }, /only change the refresh and the notice/],
      [{ status: { operationState: { phase: 'Succeeded' } } }, /may only end a running sync/],
      [{ status: { operationState: { message: 'fine' } } }, /only change operationState\.phase/],
      [{ status: { operationState: null } }, /operationState\.phase|end a running sync/],
      [{ status: { sync: { status: 'Synced' } } }, /only change operationState\.phase/],
      [{ status: { health: { status: 'Healthy' } } }, /only change operationState\.phase/],
      [operation({ manifests: ['{}'] }), /own sources/],
      [operation({ source: { ...source, path: 'elsewhere' } }), /own sources/],
      [operation({ sources: [source] }), /own sources/],
      [{ operation: {} }, /own sources/],
    ];
    for (const [body, words] of refused) {
      assert.match(await patch(argocdAccount, 'application', body), words, JSON.stringify(body));
    }
    const forbidden = [
      'create applications',
      'delete applications',
      'patch appprojects',
      'patch gitrepositories',
    ];
    for (const line of forbidden) assert.equal(await can(argocdAccount, line), false, line);
  });

  it('the size of an Application does not count', async () => {
    const resources = Array.from({ length: 3_000 }, (_none, index) => ({
      group: 'apps',
      kind: 'Deployment',
      name: `web-${index}`,
      namespace: 'shop',
      status: 'Synced',
      version: 'v1',
    }));
    const file = join(cluster.dir, 'status.json');
    writeFileSync(file, JSON.stringify({ status: { resources } }));
    await must(['patch', 'application', 'shop', '-n', 'shop', '--type=merge', '--patch-file', file]);
    const terminate = { status: { operationState: { phase: 'Terminating' } } };
    assert.equal(await patch(argocdAccount, 'application', terminate), '');
    const shortened = { status: { resources: resources.slice(1, 3) } };
    assert.match(await patch(argocdAccount, 'application', shortened), /only change operationState\.phase/);
  });

  it('nobody may write Secrets until a role is bound for it, and then only where it is', async () => {
    for (const line of ['list secrets', 'create secrets', 'update secrets'])
      assert.equal(await can(fluxAccount, line), false, line);
    const [, , namespace = '', name = ''] = fluxAccount.split(':');
    const bound = ['--clusterrole=gitops-reverser-generate-keys', `--serviceaccount=${namespace}:${name}`];
    await must(['create', 'rolebinding', 'keys', '-n', 'shop', ...bound]);
    await until('the binding is in force', () => can(fluxAccount, 'create secrets'), patience);
    assert.equal(await can(fluxAccount, 'update secrets'), true);
    for (const line of ['delete secrets', 'list secrets', 'create secrets flux-system'])
      assert.equal(await can(fluxAccount, line), false, line);
  });
});

const metadata = { name: 'shop', namespace: 'shop', annotations: { kept: 'as it is' } };
const objects = [
  {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'GitRepository',
    metadata,
    spec: { url: source.repoURL, interval: '1h', ref: { branch: 'main' } },
  },
  {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata,
    spec: { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'shop' } },
  },
  {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata,
    spec: { project: 'default', source, destination: { namespace: 'shop', name: 'in-cluster' } },
  },
];

function applicationCrd(): string | undefined {
  try {
    const file = join(argocdModule(), 'manifests/crds/application-crd.yaml');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
