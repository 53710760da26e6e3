import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import { configMap, decide, deployment, edits, flux, read, result, type Scene, widget } from './scene.ts';

describe('intent: whose edit it is', () => {
  const data = (...keys: string[]) => ({ 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) });

  it('leaves an older revision the applier wrote alone: an echo never reverts a commit', () => {
    const scene = { handled: configMap('{a: "1"}'), live: configMap('{a: "2"}'), git: configMap('{a: "3"}') };
    assert.equal(decide({ ...scene, owners: { [flux]: data('a') } }).kind, 'none');
    assert.deepEqual(edits({ ...scene, owners: { 'kubectl-edit': data('a') } }), { 'data.a': ['3', '2'] });
  });

  it('separates the fields of the applier from those of a person in one object', () => {
    const scene = {
      handled: configMap('{a: "1", b: "1"}'),
      live: configMap('{a: "2", b: "2"}'),
      git: configMap('{a: "2", b: "1"}'),
      owners: { [flux]: data('a'), 'kubectl-edit': data('b') },
    };
    assert.deepEqual(edits(scene), { 'data.b': ['1', '2'] });
  });

  it('counts a field the applier shares with a person as the person’s', () => {
    const owners = { [flux]: data('a'), 'kubectl-edit': data('a') };
    const scene = {
      handled: configMap('{a: "1"}'),
      live: configMap('{a: "2"}'),
      git: configMap('{a: "1"}'),
      owners,
    };
    assert.deepEqual(edits(scene), { 'data.a': ['1', '2'] });
  });

  it('takes a changed owner without a changed value for nothing', () => {
    const scene = { handled: configMap('{a: "1"}'), live: configMap('{a: "1"}'), git: configMap('{a: "2"}') };
    assert.equal(decide({ ...scene, owners: { 'kubectl-edit': data('a') } }).kind, 'none');
  });

  it('counts everything as a person’s where nobody owns anything', () => {
    const scene = {
      handled: configMap('{a: "1"}'),
      live: configMap('{a: "2", b: "3"}'),
      git: configMap('{a: "1"}'),
    };
    assert.deepEqual(edits(scene), { 'data.a': ['1', '2'], 'data.b': [undefined, '3'] });
  });

  it('takes a removal for a person’s: nobody owns what is gone', () => {
    const scene = {
      handled: configMap('{a: "1", b: "1"}'),
      live: configMap('{b: "1"}'),
      git: configMap('{a: "1", b: "1"}'),
      owners: { [flux]: data('b') },
    };
    assert.deepEqual(edits(scene), { 'data.a': ['1', undefined] });
  });

  it('never adds what only a controller wrote, and keeps what the file states there', () => {
    const owners = { 'cert-manager-cainjector': data('a', 'b') };
    const intent = decide({
      handled: configMap('{a: "1"}'),
      live: configMap('{a: "2", b: "2"}'),
      git: configMap('{a: "1"}'),
      owners,
    });
    assert.equal(intent.kind, 'none');
    assert.deepEqual(
      intent.notices.map(({ code, path }) => [code, path]),
      [['ControllerOwnsField', ['data', 'a']]],
    );
  });

  it('leaves out managers the target ignores', () => {
    const scene = { handled: configMap('{a: "1"}'), live: configMap('{a: "2"}'), git: configMap('{a: "1"}') };
    const owners = { 'nightly-sync': data('a') };
    assert.deepEqual(edits({ ...scene, owners }), { 'data.a': ['1', '2'] });
    assert.equal(decide({ ...scene, owners, ignore: ['nightly-*'] }).kind, 'none');
  });

  it('makes no document of what only controllers made', () => {
    const owners = { 'kube-controller-manager': data('a') };
    assert.equal(decide({ live: configMap('{a: "1"}'), owners }).kind, 'none');
    assert.equal(decide({ live: configMap('{a: "1"}'), owners: { [flux]: data('a') } }).kind, 'none');
    assert.equal(decide({ live: configMap('{a: "1"}'), owners: { kubectl: data('a') } }).kind, 'create');
    assert.equal(
      decide({ live: configMap('{a: "1"}'), owners: { [flux]: data('a') }, mirror: true }).kind,
      'create',
    );
  });
});

describe('intent: replicas', () => {
  const scaled = (manager: string): NonNullable<Scene['owners']> => ({
    [flux]: { 'f:spec': { 'f:template': {} } },
    [manager]: { fields: { 'f:spec': { 'f:replicas': {} } }, subresource: 'scale' },
  });
  const two = deployment('{replicas: 2}');
  const six = deployment('{replicas: 6}');
  const bare = deployment('{}');

  it('are the autoscaler’s when a controller wrote them through scale', () => {
    const intent = decide({ handled: two, live: six, git: two, owners: scaled('kube-controller-manager') });
    assert.equal(intent.kind, 'none');
    assert.deepEqual(
      intent.notices.map(({ code }) => code),
      ['AutoscalerOwnsReplicas'],
    );
    assert.match(intent.notices[0]?.message ?? '', /Deployment\.apps\/shop\/web.*remove the line/);
  });

  it('are the autoscaler’s when one targets the object, whoever wrote them', () => {
    assert.equal(
      decide({ handled: two, live: six, git: two, autoscaled: true, owners: scaled('kubectl') }).kind,
      'none',
    );
    assert.equal(decide({ handled: two, live: six, git: bare, autoscaled: true }).kind, 'none');
    assert.equal(decide({ live: six, git: bare, autoscaled: true, mirror: true }).kind, 'none');
  });

  it('are a person’s after kubectl scale without an autoscaler', () => {
    const scene = { handled: two, live: six, owners: scaled('kubectl') };
    assert.deepEqual(edits({ ...scene, git: two }), { 'spec.replicas': [2, 6] });
    assert.deepEqual(edits({ ...scene, git: bare }), { 'spec.replicas': [undefined, 6] });
  });

  it('are left out of a new document when an autoscaler sets them', () => {
    assert.deepEqual(result({ live: six, autoscaled: true }), bare);
    assert.deepEqual(result({ live: six }), six);
  });

  it('let another edit of the same object through', () => {
    const live = deployment('{replicas: 6, minReadySeconds: 5}');
    assert.deepEqual(edits({ handled: two, live, git: two, autoscaled: true }), {
      'spec.minReadySeconds': [undefined, 5],
    });
  });
});

describe('intent: without handled state', () => {
  const older = configMap('{a: old, b: same}');
  const newer = configMap('{a: new, b: same}');
  const byApplier = { [flux]: { 'f:data': { 'f:a': {}, 'f:b': {} } } };

  it('never reverts a commit the applier has not applied yet', () => {
    assert.equal(
      decide({ live: older, git: newer, candidates: [older, newer], owners: byApplier }).kind,
      'none',
    );
    assert.equal(decide({ live: older, git: newer, candidates: [older], owners: byApplier }).kind, 'none');
    // Without managedFields nobody claims the older value.
    assert.equal(decide({ live: older, git: newer, candidates: [older] }).kind, 'none');
  });

  it('takes a candidate’s value for an edit when a person owns it', () => {
    const owners = { 'kubectl-edit': { 'f:data': { 'f:a': {} } } };
    assert.deepEqual(edits({ live: older, git: newer, candidates: [older], owners }), {
      'data.a': ['new', 'old'],
    });
  });

  it('takes a value no candidate has for an edit, whoever owns it', () => {
    const live = configMap('{a: live, b: same}');
    const scene = { live, git: newer, candidates: [older, newer], owners: byApplier };
    const intent = decide(scene);
    assert.ok(intent.kind === 'edit');
    assert.deepEqual(edits(scene), { 'data.a': ['new', 'live'] });
    assert.deepEqual(
      intent.overwritten.map(({ where }) => where),
      ['data.a'],
    );
  });

  it('takes a field all candidates state and live lacks for a removal', () => {
    const live = configMap('{b: same}');
    assert.deepEqual(edits({ live, git: newer, candidates: [older, newer] }), {
      'data.a': ['new', undefined],
    });
    assert.equal(decide({ live, git: newer, candidates: [configMap('{b: same}'), newer] }).kind, 'none');
  });

  it('knows the defaults of what a candidate states', () => {
    const git = deployment('{minReadySeconds: 3, revisionHistoryLimit: 4}');
    const candidate = deployment('{}');
    const live = deployment('{replicas: 1, revisionHistoryLimit: 10}');
    assert.equal(
      decide({ live, git, candidates: [candidate], owners: { [flux]: { 'f:spec': {} } } }).kind,
      'none',
    );
  });

  it('compares with the document when there is no revision to look at', () => {
    assert.deepEqual(edits({ live: older, git: newer, owners: byApplier }), { 'data.a': ['new', 'old'] });
  });

  it('lets live win as a whole in a mirror, defaults left out', () => {
    const git = deployment('{replicas: 2, paused: true}');
    const live = deployment('{replicas: 1, revisionHistoryLimit: 10, minReadySeconds: 4}');
    const changed = {
      'spec.replicas': [2, 1],
      'spec.paused': [true, undefined],
      'spec.minReadySeconds': [undefined, 4],
    };
    assert.deepEqual(edits({ live, git, mirror: true }), changed);
    assert.deepEqual(edits({ live, git, mirror: true, owners: { [flux]: { 'f:spec': {} } } }), changed);
  });

  it('merges three ways in a mirror, too, when it knows what it handled', () => {
    const scene = {
      handled: configMap('{a: x, b: x}'),
      live: configMap('{a: y, b: x}'),
      git: configMap('{a: x, b: z}'),
    };
    assert.deepEqual(edits({ ...scene, mirror: true }), { 'data.a': ['x', 'y'] });
  });
});

describe('intent: what must not happen to the input', () => {
  it('gives back the very document where nothing changed', () => {
    const git: JsonObject = read(widget('{a: {b: 1}, c: {d: 1}}'));
    const intent = decide({
      handled: widget('{a: {b: 1}, c: {d: 1}}'),
      live: widget('{a: {b: 2}, c: {d: 1}}'),
      git,
    });
    assert.ok(intent.kind === 'edit');
    assert.equal(read(intent.desired.spec).c, read(git.spec).c);
  });
});
