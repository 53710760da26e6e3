/**
 * An overlay that the real Flux applies and the running sidecar edits: each live edit lands in its layer, Flux applies the commit,
 * and `flux diff` finds no drift.
 */
import assert from 'node:assert/strict';
import { part } from '../../cluster/parts.ts';
import { log, readFile, tip } from '../../cluster/repository.ts';
import { type RunResult, runOk } from '../../cluster/run.ts';
import { openByHand, type SealScene, sealByHand, sealScene } from '../../seal/scene.ts';
import { live } from '../deeds.ts';
import { applied, type GuardedWorld, startGuardedWorld } from '../flux/guarded.ts';
import { flush, type Moved, moved, tryFlush } from '../shop.ts';
import { mirror } from '../sidecar.ts';
import { repository } from './shop.ts';

const name = 'layers';
/** What Flux itself works with is not of the folder. */
const fluxOnly = { 'for-flux': 'yes' };
const objectSelector = { matchExpressions: [{ key: 'for-flux', operator: 'DoesNotExist' }] };
const secret = `apiVersion: v1
kind: Secret
metadata:
  name: access
stringData:
  password: first-password
  user: shop
`;

describe('an overlay beside the real Flux', function () {
  this.timeout(300_000);
  let world: GuardedWorld;
  let hand: SealScene;
  let bare = '';

  before(async () => {
    hand = sealScene();
    world = await startGuardedWorld({ flags: ['--kustomize', part('kustomize'), '--sops', part('sops')] });
    const files = repository(name);
    const sealed = await sealByHand(hand, secret);
    await world.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      ...mayReadSecrets(),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'age', namespace: name, labels: fluxOnly },
        stringData: { 'age.agekey': hand.key.reveal() },
      },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'cluster', namespace: name, labels: fluxOnly },
        data: { DOMAIN: 'example.test' },
      },
    ]);
    bare = await mirror(world, {
      name,
      path: 'apps/prod',
      files: {
        ...files,
        'apps/prod/access.sops.yaml': sealed,
        'apps/prod/kustomization.yaml': (files['apps/prod/kustomization.yaml'] ?? '').replace(
          '  - hosts.yaml\n',
          '  - hosts.yaml\n  - access.sops.yaml\n',
        ),
        '.sops.yaml': `creation_rules:\n  - path_regex: .*\\.sops\\.yaml$\n    encrypted_regex: ^(data|stringData)$\n    age: ${hand.recipient}\n`,
      },
      rules: [
        { apiGroups: ['apps'], resources: ['deployments'] },
        { apiGroups: [''], resources: ['configmaps', 'secrets'], objectSelector },
      ],
      spec: {
        commit: { window: { idleTimeout: '30s', maxDuration: '1m' } },
        encryption: {
          age: { enabled: true, recipients: { publicKeys: [hand.recipient] } },
          secretRef: { name: 'age' },
        },
      },
    });
    await world.apply(appliers());
    await applied(world, name);
  });
  after(async () => {
    await world?.stop();
    await hand?.folder.remove();
  });

  /** Mirroring Secrets is the user's to allow. */
  function mayReadSecrets(): object[] {
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const metadata = { name: 'mirrored', namespace: name };
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }];
    const subjects = [{ kind: 'ServiceAccount', name: 'gitops-reverser', namespace: 'flux-system' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'mirrored' };
    return [
      { apiVersion, kind: 'Role', metadata, rules },
      { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef },
    ];
  }

  function appliers(): object[] {
    const metadata = { name, namespace: name, labels: { door: 'guarded' } };
    return [
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata,
        spec: { url: world.git.url(name), interval: '1h', timeout: '20s', ref: { branch: 'main' } },
      },
      {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata,
        spec: {
          interval: '1h',
          timeout: '30s',
          path: './apps/prod',
          prune: true,
          sourceRef: { kind: 'GitRepository', name },
          decryption: { provider: 'sops', secretRef: { name: 'age' } },
          postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'cluster' }] },
        },
      },
    ];
  }

  /** Edits live, publishes, and lets Flux apply the commit through the door; then nothing may drift. */
  async function landed(act: () => Promise<unknown>): Promise<Moved> {
    const made = await moved(world, name, bare, act);
    await reconciled(made.after);
    await noDrift();
    return made;
  }

  async function reconciled(commit: string): Promise<void> {
    const { code, stderr } = await world.flux.cli(
      'reconcile',
      'kustomization',
      name,
      '-n',
      name,
      '--with-source',
    );
    assert.equal(code, 0, stderr);
    await applied(world, name, commit);
  }

  // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that looks like a variable of Flux.
  const literal = 'costs ${MORE}';

  let clones = 0;
  async function noDrift(): Promise<void> {
    const { code, stdout, stderr } = await drift();
    assert.equal(code, 0, `${stdout}\n${stderr}`);
  }

  async function drift(): Promise<RunResult> {
    const clone = `${world.folder.path}/clone-${clones++}`;
    await runOk('git', ['clone', '--quiet', bare, clone]);
    return await world.flux.cli(
      ...['diff', 'kustomization', name, '-n', name, '--path', `${clone}/apps/prod`, '--progress-bar=false'],
    );
  }

  const patch = (kind: string, object: string, value: object) =>
    world.kubectl('patch', kind, object, '-n', name, '--type=merge', '-p', JSON.stringify(value));
  const settings = async () => {
    const path = '.spec.template.spec.containers[0].envFrom[0].configMapRef.name';
    return await live(world, name, 'deployment/web', path);
  };

  it('is not touched by adopting it', async () => {
    await flush(world, name);
    assert.equal((await log(bare, 'main')).length, 1);
    const target = JSON.parse(await world.kubectl('get', 'gittarget', name, '-n', name, '-o', 'json'));
    const { mode, renderRoot, readOnlyBases } = target.status.placement;
    assert.deepEqual([mode, renderRoot, readOnlyBases], ['KustomizeOverlay', 'apps/prod', ['apps/base']]);
    assert.equal(await live(world, name, 'configmap/hosts', '.data.host'), 'web.example.test');
    await noDrift();
  });

  it('takes replicas in its replicas entry, and an image in its images entry', async () => {
    const scaled = await landed(() => world.kubectl('scale', 'deployment/web', '-n', name, '--replicas=4'));
    assert.deepEqual(scaled.lines, ['-    count: 2', '+    count: 4']);
    const image = await landed(() =>
      world.kubectl('set', 'image', 'deployment/web', 'web=registry.example/web:1.1', '-n', name),
    );
    assert.deepEqual(image.lines, ['-    newTag: "1.0"', '+    newTag: "1.1"']);
    assert.equal(await live(world, name, 'deployment/web', '.spec.replicas'), '4');
  });

  it('takes a value of a generated ConfigMap in its literal; Flux makes the new one and takes the old one away', async () => {
    const old = await settings();
    const made = await landed(() => patch('configmap', old, { data: { LEVEL: 'debug' } }));
    assert.deepEqual(made.lines, ['-      - LEVEL=info', '+      - LEVEL=debug']);
    const now = await settings();
    assert.notEqual(now, old);
    assert.equal(await live(world, name, `configmap/${now}`, '.data.LEVEL'), 'debug');
    const left = await world.kubectl('get', 'configmaps', '-n', name, '-o', 'name');
    assert.doesNotMatch(left, new RegExp(old));
    // What Flux did is no edit of anybody.
    await flush(world, name);
    assert.equal(await tip(bare, 'main'), made.after);
  });

  it('carries a field of the base in a patch file of its own, and takes it out again', async () => {
    const made = await landed(() => patch('deployment', 'web', { spec: { revisionHistoryLimit: 3 } }));
    assert.deepEqual(made.files, ['apps/prod/deployment-web-edits.yaml', 'apps/prod/kustomization.yaml']);
    assert.equal(await live(world, name, 'deployment/web', '.spec.revisionHistoryLimit'), '3');
    const undone = await landed(() => patch('deployment', 'web', { spec: { revisionHistoryLimit: 5 } }));
    assert.equal(await readFile(bare, undone.after, 'apps/prod/deployment-web-edits.yaml'), undefined);
  });

  it('keeps the variable of a text that Flux fills in, and refuses an edit of what the variable gives', async () => {
    const made = await landed(() => patch('configmap', 'hosts', { data: { path: '/store', note: literal } }));
    const text = (await readFile(bare, made.after, 'apps/prod/hosts.yaml')) ?? '';
    assert.match(
      text,
      /# Filled in for each cluster\.\n {2}host: web\.\$\{DOMAIN:=localhost\}\n {2}path: \/store\n/,
    );
    assert.match(text, /note: "?costs \$\$\{MORE\}"?\n/);
    assert.equal(await live(world, name, 'configmap/hosts', '.data.note'), literal);
    const before = await tip(bare, 'main');
    await patch('configmap', 'hosts', { data: { host: 'web.other.test' } });
    await tryFlush(world, name);
    assert.equal(await tip(bare, 'main'), before);
    const events = await world.kubectl('get', 'events', '-n', name, '-o', 'jsonpath={.items[*].message}');
    assert.match(
      events,
      /data\.host is web\.\$\{DOMAIN:=localhost\} in Git: DOMAIN lives in ConfigMap layers\/cluster/,
    );
    assert.equal((await drift()).code, 1, 'what was refused is drift');
    await reconciled(made.after);
    assert.equal(await live(world, name, 'configmap/hosts', '.data.host'), 'web.example.test');
  });

  it('seals an edited Secret in the file it came from, and Flux decrypts it', async () => {
    const made = await landed(() =>
      patch('secret', 'access', { stringData: { password: 'second-password' } }),
    );
    assert.deepEqual(made.files, ['apps/prod/access.sops.yaml']);
    const sealed = (await readFile(bare, made.after, 'apps/prod/access.sops.yaml')) ?? '';
    assert.doesNotMatch(sealed, /second-password/);
    const opened = await openByHand(hand, sealed);
    assert.match(JSON.stringify(opened), /second-password/);
    const value = await live(world, name, 'secret/access', '.data.password');
    assert.equal(Buffer.from(value, 'base64').toString(), 'second-password');
    assert.doesNotMatch(world.sidecar().log(), /second-password|first-password/);
  });

  it('takes a new object beside the kustomization, and a deleted one of the base away', async () => {
    const created = await landed(() =>
      world.kubectl('create', 'configmap', 'extra', '-n', name, '--from-literal=a=b'),
    );
    assert.deepEqual(created.files, ['apps/prod/extra.yaml', 'apps/prod/kustomization.yaml']);
    const deleted = await landed(() => world.kubectl('delete', 'deployment', 'web', '-n', name));
    assert.ok(deleted.files.includes('apps/prod/deployment-web-delete.yaml'), deleted.files.join());
    assert.match(await world.kubectl('get', 'deployments', '-n', name, '-o', 'name'), /^$/);
  });
});
