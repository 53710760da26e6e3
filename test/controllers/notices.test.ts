import assert from 'node:assert/strict';
import type { Notice } from '../../src/appliers/argocd-application.ts';
import { Notices } from '../../src/controllers/notices.ts';
import { isObject, type JsonObject, valueAt } from '../../src/core/json.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import type { BranchObservation } from '../../src/worker/mirror-spec.ts';
import { ManualClock } from '../kube/manual-clock.ts';

const quiet: BranchObservation = {
  tip: 'a',
  verifiedAt: 0,
  verifiedBy: 'Push',
  lastPushedCommit: undefined,
  lastPushedAt: undefined,
  failure: undefined,
  retryAt: undefined,
  halt: undefined,
  pendingWrites: 0,
  pendingObjects: 0,
};
const waiting = { ...quiet, pendingWrites: 1, pendingObjects: 1 };

class Scene {
  readonly clock = new ManualClock();
  readonly written: JsonObject[] = [];
  shown: Notice | undefined;
  branches: readonly BranchObservation[] | undefined = [quiet];
  readonly notices = new Notices({
    client: {
      patch: async (_ref: unknown, { body }: { readonly body: JsonObject }) => {
        const annotations = valueAt(body, ['metadata', 'annotations']);
        if (isObject(annotations)) this.written.push(annotations);
        return { kind: 'ok', object: {} };
      },
    } as unknown as KubeClient,
    clock: this.clock,
    log: silentLog(),
    facts: () => ({ shown: this.shown, branches: this.branches }),
  });

  async look(ms = 0): Promise<readonly JsonObject[]> {
    this.notices.look('argocd/shop');
    this.clock.advance(ms);
    await this.notices.stop();
    return this.written;
  }
}

const content = 'notice.argocd.argoproj.io/content';
const severity = 'notice.argocd.argoproj.io/severity';

describe('the notice on an Application', () => {
  it('comes when edits wait for five seconds', async () => {
    const scene = new Scene();
    scene.branches = [quiet, waiting];
    const [written] = await scene.look(5_000);
    assert.match(
      String(written?.[content]),
      /^GitOps Reverser: live edits .* not in Git yet; a sync publishes/,
    );
    assert.equal(written?.[severity], 'info');
  });

  it('does not come for what is in Git before that', async () => {
    const scene = new Scene();
    scene.branches = [waiting];
    scene.notices.look('argocd/shop');
    scene.clock.advance(4_000);
    scene.branches = [quiet];
    assert.deepEqual(await scene.look(5_000), []);
  });

  it('warns with the reason when edits cannot be published', async () => {
    const scene = new Scene();
    scene.branches = [{ ...waiting, failure: { reason: 'PushRefused', message: 'no', since: 0 } }];
    const [written] = await scene.look(5_000);
    assert.match(String(written?.[content]), /syncs wait for them: PushRefused$/);
    assert.equal(written?.[severity], 'warning');
  });

  it('goes at once when nothing waits any more', async () => {
    const scene = new Scene();
    scene.shown = { content: 'GitOps Reverser: anything', severity: 'info' };
    assert.deepEqual(await scene.look(0), [{ [content]: null, [severity]: null }]);
  });

  it("leaves somebody else's alone, and says nothing while nothing is known", async () => {
    const foreign = new Scene();
    foreign.shown = { content: 'maintenance on Sunday', severity: 'warning' };
    foreign.branches = [waiting];
    assert.deepEqual(await foreign.look(10_000), []);
    const unknown = new Scene();
    unknown.shown = { content: 'GitOps Reverser: anything', severity: 'info' };
    unknown.branches = undefined;
    assert.deepEqual(await unknown.look(10_000), []);
  });
});
