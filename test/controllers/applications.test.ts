import assert from 'node:assert/strict';
import type { Application } from '../../src/appliers/argocd-application.ts';
import { applicationOf } from '../../src/appliers/argocd-application.ts';
import { applying, gateFinding } from '../../src/controllers/applications.ts';
import type { GateTarget } from '../../src/core/gate/index.ts';

const target: GateTarget = {
  key: 'shop/live',
  namespace: 'shop',
  repository: 'git.example.org/shop',
  branch: 'main',
  path: 'apps/shop',
  validated: true,
  credentialVerified: true,
  crossNamespace: true,
  writes: true,
};

function application(changed: Partial<Application> = {}): Application {
  const read = applicationOf({ metadata: { namespace: 'argocd', name: 'shop' } });
  const source = { repoURL: 'https://git.example.org/shop.git', targetRevision: 'main', path: 'apps' };
  return { ...read, sources: [source], ...changed };
}

const gates = { of: () => undefined, reaches: () => true };

describe('the Applications of a folder', () => {
  const source = application().sources[0] ?? { repoURL: '', targetRevision: '', path: '' };
  const rows: [string, Partial<Application['sources'][number]>, boolean][] = [
    ['a folder above', {}, true],
    ['HEAD, which may be the branch', { targetRevision: 'HEAD' }, true],
    ['another branch', { targetRevision: 'next' }, false],
    ['another folder', { path: 'infra' }, false],
    ['another repository', { repoURL: 'https://git.example.org/other' }, false],
    ['no repository at all', { repoURL: 'nonsense' }, false],
  ];
  for (const [name, changed, wanted] of rows) {
    it(`${wanted ? 'are' : 'are not'} those of ${name}`, () => {
      const one = application({ sources: [{ ...source, ...changed }] });
      assert.equal(applying([one], target).length > 0, wanted);
    });
  }

  it('count also where the target may not hold them back, and that is said', () => {
    const away: GateTarget = { ...target, crossNamespace: false, validated: false };
    const found = gateFinding([application()], away, gates);
    assert.equal(found?.reason, 'NotAdmitted');
    assert.match(found?.message ?? '', /argocd\/shop.*allowCrossNamespace\.appliers/);
  });

  it('are told with the worst first, and nothing is told where there are none', () => {
    const one = application({ name: 'a', doorOpen: true });
    const two = application({ name: 'b', selfHeal: true });
    const three = application({ name: 'c' });
    const found = gateFinding([two, three, one], target, gates);
    assert.equal(found?.reason, 'DoorOpen');
    assert.match(found?.message ?? '', /argocd\/a: .*; Application argocd\/b: /);
    assert.doesNotMatch(found?.message ?? '', /argocd\/c/);
    assert.equal(gateFinding([three], target, gates)?.reason, 'Succeeded');
    assert.equal(gateFinding([], target, gates), undefined);
  });

  it('on a cluster out of sight are known by a gate that was seen there', () => {
    const unseen = { of: () => undefined, reaches: () => false };
    assert.equal(gateFinding([application()], target, unseen)?.reason, 'UnsupportedDestination');
  });
});
