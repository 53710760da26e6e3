/** The role `core`, asked of the real authorizer: what the sidecar does is allowed, what it must never do is not. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { kinds } from '../../src/api/kinds.ts';
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { until } from '../cluster/wait.ts';
import { clusterMissing } from './real-cluster.ts';

const manifests = fileURLToPath(new URL('../../manifests/', import.meta.url));
const account = 'system:serviceaccount:gitops-reverser:gitops-reverser';
const own = kinds.map(({ plural }) => `${plural}.configbutler.ai`);

/** `VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAMESPACE/NAME]`, `-` for no namespace. */
const allowed = [
  ...own.flatMap((resource) => [`list ${resource}`, `watch ${resource}`, `patch ${resource}/status`]),
  'create gitbranches.configbutler.ai shop/',
  'create events shop/',
  'patch events shop/a',
  'get secrets shop/git',
  'get configmaps shop/hosts',
  'watch deployments.apps',
  'list clusterroles.rbac.authorization.k8s.io',
  'get namespaces -/kube-system',
  'list customresourcedefinitions.apiextensions.k8s.io',
  'create leases.coordination.k8s.io gitops-reverser/',
  'update leases.coordination.k8s.io gitops-reverser/gitops-reverser',
];

const forbidden = [
  ...own.flatMap((resource) => [`patch ${resource} shop/a`, `delete ${resource} shop/a`]),
  'create gittargets.configbutler.ai shop/',
  'list secrets shop/',
  'watch secrets',
  'create secrets shop/',
  'patch secrets shop/git',
  'patch configmaps shop/a',
  'update deployments.apps shop/a',
  'delete deployments.apps shop/a',
  'update deployments.apps/scale shop/a',
  'create pods shop/',
  'get pods/log shop/a',
  'create pods/exec shop/a',
  'patch customresourcedefinitions.apiextensions.k8s.io',
  'bind clusterroles.rbac.authorization.k8s.io',
  'escalate clusterroles.rbac.authorization.k8s.io',
  'impersonate users',
  'create serviceaccounts/token gitops-reverser/gitops-reverser',
  'update leases.coordination.k8s.io gitops-reverser/another',
  'create leases.coordination.k8s.io shop/',
  'delete events shop/a',
];

describe('the role core', function () {
  this.timeout(120_000);
  let cluster: ControlPlane;

  before(async function () {
    const missing = clusterMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      return this.skip();
    }
    cluster = await startControlPlane({ controllers: false });
    await kubectl(cluster, ['create', 'namespace', 'gitops-reverser']);
    const files = ['-f', `${manifests}rbac/core.yaml`, '-f', `${manifests}standalone/account.yaml`];
    const applied = await kubectl(cluster, ['apply', ...files]);
    assert.equal(applied.code, 0, applied.stderr);
    await until('the role is bound', async () =>
      (await answers(['create events shop/']))[0]?.endsWith('yes'),
    );
  });
  after(() => cluster?.stop());

  it('allows what the sidecar does', async () => {
    assert.deepEqual(
      await answers(allowed),
      allowed.map((question) => `${question}: yes`),
    );
  });

  it('forbids to change what it mirrors, to read what nobody named, and to widen its rights', async () => {
    assert.deepEqual(
      await answers(forbidden),
      forbidden.map((question) => `${question}: no`),
    );
  });

  /** All questions in one call. */
  async function answers(questions: readonly string[]): Promise<string[]> {
    const reviews = questions.map(review).map((one) => JSON.stringify(one));
    const { stdout, stderr } = await kubectl(
      cluster,
      ['create', '-f', '-', '-o', 'jsonpath={.status.allowed}{" "}'],
      { stdin: reviews.join('\n---\n') },
    );
    const told = stdout.trim().split(/\s+/);
    assert.equal(told.length, questions.length, stderr);
    return questions.map((question, index) => `${question}: ${told[index] === 'true' ? 'yes' : 'no'}`);
  }
});

function review(question: string) {
  const [verb = '', what = '', where = ''] = question.split(' ');
  const [full = '', subresource = ''] = what.split('/');
  const [resource = '', ...group] = full.split('.');
  const [namespace = '', name = ''] = where.split('/');
  const resourceAttributes = {
    verb,
    group: group.join('.'),
    resource,
    subresource,
    namespace: namespace === '-' ? '' : namespace,
    name,
  };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: account, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes },
  };
}
