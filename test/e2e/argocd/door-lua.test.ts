import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Folder, temporaryFolder } from '../../cluster/folder.ts';
import { part } from '../../cluster/parts.ts';
import { run } from '../../cluster/run.ts';

const config = join(import.meta.dirname, '../../../manifests/argocd/lua.yaml');

type Status = Readonly<Record<string, unknown>> | undefined;

describe('the Lua for Argo CD, run by the real argocd', function () {
  this.timeout(180_000);
  let folder: Folder;
  before(() => {
    folder = temporaryFolder('lua');
  });
  after(() => folder?.remove());

  async function override(command: string, kind: string, status: Status, ...args: string[]): Promise<string> {
    const object = {
      apiVersion: 'configbutler.ai/v1alpha3',
      kind,
      metadata: { name: 'a', namespace: 'shop', uid: 'u-2', generation: 2 },
      spec: {},
      ...(status === undefined ? {} : { status }),
    };
    const file = join(folder.path, 'object.yaml');
    writeFileSync(file, JSON.stringify(object));
    const words = ['admin', 'settings', 'resource-overrides', command, file, ...args];
    const { code, stdout, stderr } = await run(part('argocd'), [...words, '--argocd-cm-path', config]);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  const gate = (changed: object) => ({ answeredUID: 'u-2', message: 'our words', ...changed });
  const trio = (ready: string, stalled: string, reason = 'Because', observedGeneration = 2) => ({
    observedGeneration,
    conditions: [
      { type: 'Ready', status: ready, reason, message: 'our words' },
      { type: 'Stalled', status: stalled, reason, message: '' },
    ],
  });
  const rows: [string, string, Status, string, RegExp][] = [
    ['a new gate', 'SyncGate', undefined, 'Progressing', /waiting for GitOps Reverser/],
    ['a pending gate', 'SyncGate', gate({ phase: 'Pending' }), 'Progressing', /our words/],
    ['an open gate', 'SyncGate', gate({ phase: 'Open' }), 'Healthy', /our words/],
    [
      'an answer to another object',
      'SyncGate',
      { ...gate({ phase: 'Open' }), answeredUID: 'u-1' },
      'Progressing',
      /waiting/,
    ],
    ['a superseded sync', 'SyncGate', gate({ phase: 'Superseded' }), 'Degraded', /our words/],
    ['a closed gate', 'SyncGate', gate({ phase: 'Closed' }), 'Progressing', /our words/],
    [
      'a gate closed for long',
      'SyncGate',
      gate({ phase: 'Closed', degraded: true }),
      'Degraded',
      /our words/,
    ],
    ['a new target', 'GitTarget', undefined, 'Progressing', /waiting/],
    ['a target that works', 'GitTarget', trio('True', 'False'), 'Healthy', /Because: our words/],
    ['a suspended target', 'GitTarget', trio('True', 'False', 'Suspended'), 'Suspended', /Suspended/],
    ['a changed target', 'GitTarget', trio('True', 'False', 'Because', 1), 'Progressing', /newest spec/],
    ['a provider that waits', 'GitProvider', trio('False', 'False'), 'Progressing', /our words/],
    ['a branch that needs a person', 'GitBranch', trio('False', 'True'), 'Degraded', /our words/],
    ['a rule that works', 'WatchRule', trio('True', 'False'), 'Healthy', /our words/],
  ];
  for (const [name, kind, status, health, message] of rows) {
    it(`says ${health} of ${name}`, async () => {
      const said = await override('health', kind, status);
      assert.match(said, new RegExp(`^STATUS: ${health}$`, 'm'));
      assert.match(said, message);
    });
  }

  const actions: [string, string, string][] = [
    ['SyncGate', 'ask-again', 'requestedAt'],
    ['GitTarget', 'flush', 'flushRequestedAt'],
    ['GitTarget', 'resync', 'requestedAt'],
    ['GitBranch', 'look-again', 'requestedAt'],
  ];
  for (const [kind, action, annotation] of actions) {
    it(`offers ${action} on a ${kind}, which stamps it`, async () => {
      assert.match(await override('list-actions', kind, undefined), new RegExp(`^${action} +false`, 'm'));
      const changed = await override('run-action', kind, undefined, action);
      assert.match(changed, new RegExp(`${annotation}: "?\\d{4}-\\d\\d-\\d\\dT`));
    });
  }
});
