/**
 * What we can do about every feature of a kustomization: the table behind docs/reference/kustomize.md.
 *
 * A feature that is not named here is refused: a new field of kustomize may mean anything.
 */

/**
 * - `editable`: a live edit is written into it.
 * - `read-only`: what it sets stays as it is; an edit of such a value is refused, everything else of the object is editable.
 * - `refused`: nothing that a build with it makes is edited.
 */
export type Verdict = 'editable' | 'read-only' | 'refused';

export interface FeatureRule {
  readonly verdict: Verdict;
  readonly reason: string;
}

const neverRuns = 'it would run a program or fetch a chart, which the sidecar never does';
const readsAnything = 'its configuration may run programs, and may read files that nobody can follow';

/** Field of a kustomization file -> rule. `remote` is a resource that is not in the repository. */
export const featureRules: Readonly<Record<string, FeatureRule>> = {
  resources: { verdict: 'editable', reason: 'documents of the folder are edited where they stand' },
  bases: { verdict: 'editable', reason: 'the old spelling of resources' },
  components: { verdict: 'editable', reason: 'files of a component in the folder are edited like any other' },
  images: { verdict: 'editable', reason: 'name, tag and digest go to the entry that gives them' },
  imageTags: { verdict: 'read-only', reason: 'the old spelling of images; kustomize edit fix renews it' },
  replicas: { verdict: 'editable', reason: 'the count goes to the entry' },
  patches: { verdict: 'editable', reason: 'strategic-merge files in the folder, where they state the field' },
  patchesStrategicMerge: { verdict: 'editable', reason: 'files in the folder, where they state the field' },
  'inline patch': { verdict: 'read-only', reason: 'its text stands inside the kustomization file' },
  'JSON6902 patch': { verdict: 'read-only', reason: 'it says how to change a value, not what it is' },
  patchesJson6902: { verdict: 'read-only', reason: 'it says how to change a value, not what it is' },
  configMapGenerator: { verdict: 'editable', reason: 'files, envs and literals that only this entry reads' },
  secretGenerator: { verdict: 'read-only', reason: 'its inputs are secrets in plain text' },
  namespace: { verdict: 'read-only', reason: 'it is part of the names of the objects' },
  namePrefix: { verdict: 'read-only', reason: 'it is part of the names of the objects' },
  nameSuffix: { verdict: 'read-only', reason: 'it is part of the names of the objects' },
  labels: { verdict: 'read-only', reason: 'it is set on all objects at once' },
  commonLabels: { verdict: 'read-only', reason: 'it is set on all objects at once' },
  commonAnnotations: { verdict: 'read-only', reason: 'it is set on all objects at once' },
  replacements: { verdict: 'read-only', reason: 'it copies a value from another object' },
  vars: { verdict: 'read-only', reason: 'it copies a value from another object' },
  configurations: { verdict: 'read-only', reason: 'it changes which fields kustomize rewrites' },
  crds: { verdict: 'read-only', reason: 'it changes how kustomize merges' },
  openapi: { verdict: 'read-only', reason: 'it changes how kustomize merges' },
  generatorOptions: { verdict: 'read-only', reason: 'it shapes generated objects' },
  sortOptions: { verdict: 'read-only', reason: 'it only orders the objects' },
  buildMetadata: { verdict: 'read-only', reason: 'it only marks the objects' },
  metadata: { verdict: 'read-only', reason: 'it says nothing about the objects' },
  apiVersion: { verdict: 'read-only', reason: 'it says nothing about the objects' },
  kind: { verdict: 'read-only', reason: 'it says nothing about the objects' },
  generators: { verdict: 'refused', reason: readsAnything },
  transformers: { verdict: 'refused', reason: readsAnything },
  validators: { verdict: 'refused', reason: readsAnything },
  helmCharts: { verdict: 'refused', reason: neverRuns },
  helmGlobals: { verdict: 'refused', reason: neverRuns },
  helmChartInflationGenerator: { verdict: 'refused', reason: neverRuns },
  'remote resource': { verdict: 'refused', reason: 'it is not in this repository and never fetched' },
};

const unknown: FeatureRule = { verdict: 'refused', reason: 'it is no field that we know' };

export function featureRule(feature: string): FeatureRule {
  return Object.hasOwn(featureRules, feature) ? (featureRules[feature] ?? unknown) : unknown;
}
