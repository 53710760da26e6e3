import assert from 'node:assert/strict';
import {
  artifactGeneratorOf,
  externalArtifactOf,
  routeKustomizationOf,
  routeSourceOf,
} from '../../src/appliers/flux-routes.ts';
import { FluxFetches } from '../../src/controllers/flux-fetches.ts';
import { type FluxRoutes, routesFinding } from '../../src/controllers/flux-routes.ts';
import type { GateTarget } from '../../src/core/gate/index.ts';
import type { JsonObject } from '../../src/core/json.ts';

const target: GateTarget = {
  key: 'shop/live',
  namespace: 'shop',
  repository: 'git.example.org/shop',
  branch: 'main',
  path: 'apps/shop',
  validated: true,
  credentialVerified: true,
  crossNamespace: false,
  writes: true,
};

const one = 'a'.repeat(40);
const two = 'b'.repeat(40);

function source(spec: JsonObject = {}, metadata: JsonObject = {}) {
  return routeSourceOf({
    metadata: { namespace: 'shop', name: 'config', ...metadata },
    spec: { url: 'https://git.example.org/shop.git', ref: { branch: 'main' }, ...spec },
  });
}

function kustomization(spec: JsonObject = {}, attempted = one, ready = 'True') {
  return routeKustomizationOf({
    metadata: { namespace: 'shop', name: 'shop' },
    spec: { path: './apps', sourceRef: { kind: 'GitRepository', name: 'config' }, ...spec },
    status: {
      lastAttemptedRevision: `main@sha1:${attempted}`,
      conditions: [{ type: 'Ready', status: ready, message: '' }],
    },
  });
}

function artifact(sourceRef: JsonObject, name = 'parts') {
  return externalArtifactOf({ metadata: { namespace: 'shop', name }, spec: { sourceRef } });
}

function generator(sources: JsonObject[]) {
  return artifactGeneratorOf({ metadata: { namespace: 'shop', name: 'splitter' }, spec: { sources } });
}

function routes(changed: Partial<FluxRoutes> = {}): FluxRoutes {
  const none = { artifacts: [], generators: [], passedBy: () => undefined };
  return { sources: [source()], kustomizations: [kustomization()], ...none, ...changed };
}

describe('the ways on which Flux applies a folder', () => {
  it('are guarded where a Kustomization reads a GitRepository of the branch', () => {
    const found = routesFinding(routes(), target);
    assert.equal(found?.reason, 'Succeeded');
    assert.match(found?.message ?? '', /^shop\/shop /);
  });

  const nobody: readonly [string, Partial<FluxRoutes>][] = [
    ['another branch', { sources: [source({ ref: { branch: 'next' } })] }],
    ['a tag', { sources: [source({ ref: { tag: 'v1' } })] }],
    ['another repository', { sources: [source({ url: 'https://git.example.org/other' })] }],
    ['another folder', { kustomizations: [kustomization({ path: './infra' })] }],
    [
      'another source',
      { kustomizations: [kustomization({ sourceRef: { kind: 'Bucket', name: 'config' } })] },
    ],
    ['no Kustomization that works', { kustomizations: [kustomization({ suspend: true })] }],
  ];
  for (const [name, changed] of nobody) {
    it(`are none for ${name}`, () => assert.equal(routesFinding(routes(changed), target), undefined));
  }

  it('are not held back in another namespace, unless the KubeProvider admits it', () => {
    const away = {
      sources: [source({}, { namespace: 'flux-system' })],
      kustomizations: [
        kustomization({ sourceRef: { kind: 'GitRepository', name: 'config', namespace: 'flux-system' } }),
      ],
    };
    const found = routesFinding(routes(away), target);
    assert.equal(found?.reason, 'NotAdmitted');
    assert.match(found?.message ?? '', /flux-system\/config.*allowCrossNamespace\.appliers/);
    assert.equal(routesFinding(routes(away), { ...target, crossNamespace: true })?.reason, 'Succeeded');
  });

  it('pass unchecked with the break-glass annotation', () => {
    const opened = source({}, { annotations: { 'configbutler.ai/door': 'open' } });
    assert.equal(routesFinding(routes({ sources: [opened] }), target)?.reason, 'DoorOpen');
  });

  it('go past the door through an ExternalArtifact, however it is made from the GitRepository', () => {
    const git = { kind: 'GitRepository', name: 'config' };
    const made: readonly Partial<FluxRoutes>[] = [
      { artifacts: [artifact(git)] },
      {
        artifacts: [artifact({ kind: 'ArtifactGenerator', name: 'splitter' })],
        generators: [generator([{ kind: 'Bucket', name: 'x' }, git])],
      },
      {
        artifacts: [
          artifact({ kind: 'ArtifactGenerator', name: 'splitter' }),
          artifact({ kind: 'GitRepository', name: 'config' }, 'whole'),
        ],
        generators: [generator([{ kind: 'ExternalArtifact', name: 'whole' }])],
      },
    ];
    for (const changed of made) {
      const reader = kustomization({ sourceRef: { kind: 'ExternalArtifact', name: 'parts' } });
      const found = routesFinding(routes({ ...changed, kustomizations: [reader] }), target);
      assert.equal(found?.reason, 'ExternalArtifact');
      assert.match(found?.message ?? '', /ExternalArtifact shop\/parts.*GitRepository shop\/config/);
      assert.match(found?.message ?? '', /let Kustomization shop\/shop read the GitRepository itself/);
    }
  });

  it('are not past the door through an ExternalArtifact of something else, nor of itself', () => {
    const others = [
      artifact({ kind: 'GitRepository', name: 'other' }),
      artifact({ kind: 'GitRepository', name: 'config', namespace: 'else' }),
      artifact({ kind: 'ExternalArtifact', name: 'ring' }, 'ring'),
      artifact({ kind: 'ArtifactGenerator', name: 'gone' }),
    ];
    assert.equal(routesFinding(routes({ artifacts: others }), target)?.reason, 'Succeeded');
  });

  it('go past the door where another GitRepository includes this one', () => {
    const including = routeSourceOf({
      metadata: { namespace: 'shop', name: 'platform' },
      spec: { url: 'https://git.example.org/platform', include: [{ repository: { name: 'config' } }] },
    });
    const found = routesFinding(routes({ sources: [source(), including] }), target);
    assert.equal(found?.reason, 'Included');
    assert.match(found?.message ?? '', /shop\/platform: it includes GitRepository shop\/config/);
  });

  it('are told with the worst first', () => {
    const found = routesFinding(
      routes({
        artifacts: [artifact({ kind: 'GitRepository', name: 'config' })],
        passedBy: () => one,
      }),
      target,
    );
    assert.equal(found?.reason, 'NotThroughDoor');
    assert.match(found?.message ?? '', /^Kustomization shop\/shop: .*a{12} .*; ExternalArtifact shop\/parts/);
  });
});

describe('a fetch elsewhere', () => {
  const git = { namespace: 'shop', name: 'config' };
  const name = { namespace: 'shop', name: 'shop' };

  it('is a commit the door has not let through', () => {
    const fetches = new FluxFetches();
    const before = kustomization({}, one);
    fetches.seen(undefined, before);
    assert.equal(fetches.passedBy(name), undefined, 'what it fetched before we looked proves nothing');
    fetches.seen(before, kustomization({}, two, 'Unknown'));
    assert.equal(fetches.passedBy(name), two);
  });

  it('is none when the door has let the commit through, and is forgotten after one that came here', () => {
    const fetches = new FluxFetches();
    fetches.passed(git, two);
    const before = kustomization({}, one);
    fetches.seen(undefined, before);
    const elsewhere = kustomization({}, 'c'.repeat(40));
    fetches.seen(before, elsewhere);
    assert.notEqual(fetches.passedBy(name), undefined);
    fetches.seen(elsewhere, kustomization({}, two));
    assert.equal(fetches.passedBy(name), undefined);
  });

  it('is not told of an apply that was already running when we began', () => {
    const fetches = new FluxFetches();
    const running = kustomization({}, one, 'Unknown');
    fetches.seen(undefined, running);
    fetches.seen(running, kustomization({}, two, 'Unknown'));
    assert.equal(fetches.passedBy(name), undefined);
  });

  it('is not told of sources the door does not check', () => {
    const fetches = new FluxFetches();
    const spec = { sourceRef: { kind: 'OCIRepository', name: 'config' } };
    const before = kustomization(spec, one);
    fetches.seen(undefined, before);
    fetches.seen(before, kustomization(spec, two));
    assert.equal(fetches.passedBy(name), undefined);
  });

  it('ends with the Kustomization', () => {
    const fetches = new FluxFetches();
    const before = kustomization({}, one);
    fetches.seen(undefined, before);
    fetches.seen(before, kustomization({}, two));
    fetches.forget(name);
    assert.equal(fetches.passedBy(name), undefined);
  });
});
