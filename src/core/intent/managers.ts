/**
 * Who a field manager is: the folder's applier, a controller, or a person.
 *
 * A name nobody knows is a person: a lost edit is worse than a field too many in Git. `GitTarget.spec.ignoreManagers` adds
 * names that are not.
 */
import type { FieldOwner } from './owners.ts';

export { type FieldOwner, type FieldOwnership, fieldOwners } from './owners.ts';

export interface ManagerRules {
  /** Managers of the folder's own applier; empty for a mirror. */
  readonly appliers: readonly string[];
  /** Globs of further managers whose fields are no edits: `GitTarget.spec.ignoreManagers`. */
  readonly ignore: readonly string[];
}

export type Role = 'applier' | 'controller' | 'person';

/** The field managers the appliers write objects under. `argocd-server` is a person clicking in Argo CD's UI. */
export const knownAppliers = {
  Flux: ['kustomize-controller'],
  ArgoCD: ['argocd-controller', 'argocd-application-controller'],
} as const satisfies Record<string, readonly string[]>;

/**
 * Globs of managers that are programs. The default manager name is the binary's, so `manager` and `controller` are what most
 * operators go by; no tool for people has these names.
 */
const knownControllers: readonly string[] = [
  'gitops-reverser',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-apiserver',
  'kubelet',
  'k3s',
  'kubelite',
  'cluster-autoscaler',
  'vpa-*',
  'keda',
  'cainjector',
  'cert-manager*',
  'gotk-*',
  'external-dns',
  'external-secrets',
  'istiod',
  'pilot-discovery',
  'gatekeeper',
  'kyverno',
  'vault-agent-injector',
  'csi-provisioner',
  'csi-attacher',
  'csi-resizer',
  'manager',
  'controller',
  '*-controller',
  '*-controller-manager',
  '*-operator',
];

const appliers: ReadonlySet<string> = new Set(Object.values(knownAppliers).flat());

/**
 * The role of one owner of a field. Whatever is written through the `status` subresource is a controller's. An applier that is
 * not the folder's counts as a person: a mirror exists to record what it applies.
 */
export function roleOf(owner: FieldOwner, rules: ManagerRules): Role {
  if (owner.subresource === 'status') return 'controller';
  if (rules.appliers.includes(owner.manager)) return 'applier';
  if (rules.ignore.some((glob) => matchesGlob(glob, owner.manager))) return 'controller';
  if (appliers.has(owner.manager)) return 'person';
  return knownControllers.some((glob) => matchesGlob(glob, owner.manager)) ? 'controller' : 'person';
}

/** `*` stands for any text, `?` for one character. Linear in the text for each star. */
function matchesGlob(glob: string, text: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    if (glob[from] === '*') {
      star = from;
      resume = at;
      from += 1;
    } else if (from < glob.length && (glob[from] === '?' || glob[from] === text[at])) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      from = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (glob[from] === '*') from += 1;
  return from === glob.length;
}
