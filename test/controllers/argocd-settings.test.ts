import assert from 'node:assert/strict';
import { ArgocdSettings } from '../../src/controllers/argocd-settings.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { unknownTracking } from '../../src/core/sanitize/index.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { eventually, ManualClock } from '../kube/manual-clock.ts';

type Answer = { kind: 'ok'; object: JsonObject } | { kind: string; message: string };

class Scene {
  readonly clock = new ManualClock();
  readonly asked: object[] = [];
  changes = 0;
  readonly settings: ArgocdSettings;
  answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
    const client = {
      get: async (ref: object) => {
        this.asked.push(ref);
        return this.answer;
      },
    } as unknown as KubeClient;
    this.settings = new ArgocdSettings({
      client,
      argocdNamespace: 'gitops',
      clock: this.clock,
      log: silentLog(),
      onChange: () => {
        this.changes++;
      },
    });
    this.settings.start();
  }

  /** Until the look that is under way has ended. */
  async looked(): Promise<void> {
    await eventually('the next look is planned', () => this.clock.waiting().length === 1);
  }
}

const cm = (data: Readonly<Record<string, string>>): Answer => ({ kind: 'ok', object: { data } });
const unread = { kind: 'forbidden', message: 'no' };

describe('the settings of Argo CD', () => {
  const unknown = { ...unknownTracking, namespace: 'gitops' };
  const rows: [string, Answer, object, number][] = [
    ['nothing is set', cm({}), { ...unknown, installation: '' }, 60_000],
    [
      'everything is set',
      cm({
        'application.resourceTrackingMethod': 'annotation+label',
        'application.instanceLabelKey': 'example.org/app',
        installationID: 'one',
      }),
      { namespace: 'gitops', method: 'annotation+label', label: 'example.org/app', installation: 'one' },
      60_000,
    ],
    [
      'the method is none that Argo CD knows',
      cm({ 'application.resourceTrackingMethod': 'magic' }),
      { ...unknown, installation: '' },
      60_000,
    ],
    ['it has no data', { kind: 'ok', object: {} }, { ...unknown, installation: '' }, 60_000],
    ['there is none', { kind: 'not-found', message: '' }, unknown, 600_000],
    ['it may not be read', unread, unknown, 600_000],
    ['nobody answers', { kind: 'unreachable', message: '' }, unknown, 5_000],
  ];
  for (const [name, answer, expected, again] of rows) {
    it(`are known after the first look, when ${name}`, async () => {
      const scene = new Scene(answer);
      assert.equal(scene.settings.isKnown, false);
      await scene.looked();
      assert.equal(scene.settings.isKnown, true);
      assert.deepEqual(scene.settings.tracking, expected);
      assert.deepEqual([scene.changes, scene.clock.waiting()], [1, [again]]);
      assert.deepEqual(scene.asked, [
        { group: '', version: 'v1', resource: 'configmaps', namespace: 'gitops', name: 'argocd-cm' },
      ]);
    });
  }

  it('are told again only when they are other ones, and kept while nobody answers', async () => {
    const scene = new Scene(cm({ 'application.resourceTrackingMethod': 'label' }));
    await scene.looked();
    const next = async (answer: Answer) => {
      scene.answer = answer;
      scene.clock.runNext();
      await scene.looked();
      return [scene.settings.tracking.method, scene.changes];
    };
    assert.deepEqual(await next(scene.answer), ['label', 1]);
    assert.deepEqual(await next({ kind: 'unreachable', message: '' }), ['label', 1]);
    assert.deepEqual(await next(unread), ['label', 1]);
    assert.deepEqual(await next(cm({ 'application.resourceTrackingMethod': 'annotation' })), [
      'annotation',
      2,
    ]);
    assert.deepEqual(await next({ kind: 'not-found', message: '' }), [undefined, 3]);
  });

  it('are not looked at any more after the end', async () => {
    const scene = new Scene(cm({}));
    await scene.looked();
    scene.settings.stop();
    assert.deepEqual(scene.clock.waiting(), []);
  });
});
