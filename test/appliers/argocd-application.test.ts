import assert from 'node:assert/strict';
import { applicationOf, operationAt } from '../../src/appliers/argocd-application.ts';
import type { JsonObject } from '../../src/core/json.ts';

const commit = 'a'.repeat(40);
const other = 'b'.repeat(40);
const source = { repoURL: 'https://git.example.org/shop', path: 'apps/shop', targetRevision: 'main' };
const chart = { repoURL: 'https://charts.example.org', chart: 'redis', targetRevision: '1.2.3' };

function application({
  spec = {},
  state = {},
  sync = {},
  annotations = {},
  history = [],
}: {
  spec?: JsonObject;
  state?: JsonObject;
  sync?: JsonObject;
  annotations?: JsonObject;
  history?: JsonObject[];
} = {}): ReturnType<typeof applicationOf> {
  return applicationOf({
    metadata: { namespace: 'argocd', name: 'shop', uid: 'u', resourceVersion: '7', annotations },
    spec: { source, destination: { server: 'https://kubernetes.default.svc', namespace: 'shop' }, ...spec },
    status: {
      history,
      operationState: {
        phase: 'Running',
        startedAt: '2026-01-01T00:00:10Z',
        operation: { sync },
        syncResult: { revision: commit, source },
        ...state,
      },
    },
  });
}

describe('what an Application says', () => {
  it('names the commit, branch and folder of a running sync', () => {
    const { operation, busy } = application();
    assert.deepEqual(operation?.sources, [{ ...source, revision: commit, index: undefined }]);
    assert.equal(operation?.startedAt, Date.UTC(2026, 0, 1, 0, 0, 10));
    assert.equal(operation?.phase, 'Running');
    assert.equal(busy, false);
  });

  it('names the commits a sync was asked for, before any is resolved', () => {
    const asked = (sync: JsonObject, spec: JsonObject = {}) =>
      application({ spec, sync, state: { syncResult: {} } }).askedSources.map(
        ({ path, revision }) => `${path} ${revision[0]}`,
      );
    assert.deepEqual(asked({ revision: commit }), ['apps/shop a']);
    assert.deepEqual(asked({ revision: commit, source: { ...source, path: 'apps/own' } }), ['apps/own a']);
    const sources = [chart, source, { ...source, path: 'apps/other' }];
    assert.deepEqual(asked({ revisions: ['1.2.3', commit, other] }, { sources }), [
      'apps/shop a',
      'apps/other b',
    ]);
    assert.deepEqual(asked({ revision: 'main' }), [], 'a branch is no commit');
    assert.deepEqual(asked({}), []);
  });

  it('names what the result of a sync says of each SyncGate', () => {
    const gate = {
      kind: 'SyncGate',
      group: 'configbutler.ai',
      name: 'a',
      namespace: 'shop',
      message: 'open',
    };
    const syncResult = { resources: [{ kind: 'ConfigMap', message: 'configured' }, gate] };
    assert.deepEqual(application({ state: { syncResult } }).gatesSaid, [
      { namespace: 'shop', name: 'a', message: 'open' },
    ]);
    assert.deepEqual(application().gatesSaid, []);
  });

  it('takes each source with its own commit, and leaves charts out without losing count', () => {
    const sources = [chart, source, { ...source, path: 'apps/other' }];
    const syncResult = { revisions: ['1.2.3', commit, other], sources, source: {} };
    const { operation } = application({ spec: { sources }, state: { syncResult } });
    assert.deepEqual(
      operation?.sources?.map(({ index, path, revision }) => [index, path, revision]),
      [
        [1, 'apps/shop', commit],
        [2, 'apps/other', other],
      ],
    );
  });

  const unsaid: [string, JsonObject | null][] = [
    ['there is no result', null],
    ['the revision is a name', { revision: 'main', source }],
    ['a source has no revision', { revisions: [commit], sources: [source, source] }],
  ];
  for (const [name, syncResult] of unsaid) {
    it(`says no commit while ${name}`, () => {
      assert.equal(application({ state: { syncResult } }).operation?.sources, undefined);
    });
  }

  const retries: [JsonObject, JsonObject, boolean][] = [
    [{}, {}, false],
    [{ limit: 5 }, {}, true],
    [{ limit: 5 }, { retryCount: 5 }, false],
    [{ limit: -1 }, { retryCount: 99 }, true],
  ];
  for (const [retry, state, wanted] of retries) {
    it(`${JSON.stringify([retry, state])} is ${wanted ? '' : 'not '}tried again`, () => {
      const operation = { sync: {}, retry };
      assert.equal(application({ state: { ...state, operation } }).operation?.retries, wanted);
    });
  }

  it('knows a source of its own from a copy of the spec', () => {
    const overrides = (sync: JsonObject) => application({ sync }).operation?.overridesSource;
    assert.equal(overrides({}), false);
    assert.equal(overrides({ source }), false);
    assert.equal(overrides({ source: { ...source, path: 'apps/other' } }), true);
    assert.equal(overrides({ sources: [source] }), true);
    assert.equal(overrides({ sources: [] }), false);
  });

  const healing: [JsonObject, boolean][] = [
    [{}, false],
    [{ automated: {} }, false],
    [{ automated: { selfHeal: true } }, true],
    [{ automated: { selfHeal: true, enabled: false } }, false],
  ];
  for (const [syncPolicy, wanted] of healing) {
    it(`${JSON.stringify(syncPolicy)} ${wanted ? 'heals itself' : 'does not heal itself'}`, () => {
      assert.equal(application({ spec: { syncPolicy } }).selfHeal, wanted);
    });
  }

  it('tells how the newest sync took the gate', () => {
    const gate = (hookType: string): JsonObject => ({ group: 'configbutler.ai', kind: 'SyncGate', hookType });
    const last = (resources: JsonObject[], sync: JsonObject = {}) =>
      application({ sync, state: { phase: 'Succeeded', syncResult: { resources } } }).lastSync;
    assert.equal(last([gate('PreSync')])?.gate, 'hook');
    assert.equal(last([gate('')])?.gate, 'resource');
    assert.equal(last([])?.gate, 'none');
    assert.equal(last([], { resources: [{ kind: 'A' }] })?.partial, true);
    assert.equal(last([], { syncStrategy: { apply: {} } })?.applyStrategy, true);
    assert.equal(last([], { dryRun: true }), undefined);
  });

  it('goes back when its newest commit was there before another one', () => {
    const goesBack = (...revisions: string[]) =>
      application({ history: revisions.map((revision) => ({ revision })) }).lastSync?.goesBack;
    assert.equal(goesBack(commit, other), false);
    assert.equal(goesBack(commit, other, commit), true);
    assert.equal(goesBack(commit, commit), false);
    assert.equal(goesBack(), false);
  });

  it('carries its annotations', () => {
    const { doorOpen, allowRevision, notice } = application({
      annotations: {
        'configbutler.ai/door': 'open',
        'configbutler.ai/allow-revision': commit,
        'notice.argocd.argoproj.io/content': 'words',
      },
    });
    assert.deepEqual(
      { doorOpen, allowRevision, notice },
      {
        doorOpen: true,
        allowRevision: commit,
        notice: { content: 'words', severity: 'info' },
      },
    );
    assert.equal(application({ annotations: { 'configbutler.ai/door': 'ajar' } }).doorOpen, false);
  });
});

describe('the same sync at another commit', () => {
  const asked = {
    sync: { revision: commit, prune: true, syncOptions: ['A=true'] },
    initiatedBy: { username: 'ada' },
    info: [{ name: 'why', value: 'because' }],
    retry: { limit: 2 },
  };

  it('keeps every option and says why', () => {
    assert.deepEqual(operationAt(asked, [{ index: undefined, revision: other }], 'words'), {
      ...asked,
      sync: { ...asked.sync, revision: other },
      info: [...asked.info, { name: 'gitops-reverser', value: 'words' }],
    });
  });

  it('says it once, however often it is started again', () => {
    const once = operationAt(asked, [{ index: undefined, revision: other }], 'first');
    const twice = operationAt(once, [{ index: undefined, revision: other }], 'second');
    assert.deepEqual(twice.info, [...asked.info, { name: 'gitops-reverser', value: 'second' }]);
  });

  it('sets the commits of several sources in their places', () => {
    const many = { sync: { revisions: ['1.2.3', commit, commit] } };
    const again = operationAt(many, [{ index: 2, revision: other }], 'words');
    assert.deepEqual(again.sync, { revisions: ['1.2.3', commit, other] });
    const unsaid = operationAt({ sync: {} }, [{ index: 1, revision: other }], 'words');
    assert.deepEqual(unsaid.sync, { revisions: ['', other] });
  });
});
