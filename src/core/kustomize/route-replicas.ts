/** The size of a workload: the `replicas` entry that sets it, or a new one where only the base states it. */
import { equalJson, isObject, type JsonObject, valueAt } from '../json.ts';
import { type Job, setAt } from './job.ts';
import { editKustomization, withReplicas } from './kustomization-edits.ts';
import { nameAfter } from './layers.ts';

const path = ['spec', 'replicas'];
/** The kinds whose size kustomize sets. */
const kinds = new Set(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet']);

export async function routeReplicas(job: Job): Promise<void> {
  const { built, wanted, source, layers } = job;
  const want = valueAt(wanted, path);
  const have = valueAt(built, path);
  if (equalJson(want, have) || typeof want !== 'number' || !kinds.has(source.document.id.kind)) return;
  const { name } = source.document.id;
  const names = [name, ...layers.map((_layer, at) => nameAfter(layers.slice(0, at + 1), name))];
  const isSet = ({ name: set }: { readonly name: string }): boolean => names.includes(set);
  const supplier = layers.findLast(({ kustomization }) => kustomization.replicas.some(isSet));
  const entry = supplier?.kustomization.replicas.findLast(isSet);
  if (supplier !== undefined && entry !== undefined && job.canWrite(supplier.node.file)) {
    await place(job, supplier.node.file, withReplicas(entry.name, want));
    return;
  }
  const stated = job.patches.merged.findLast(({ value }) => valueAt(value, path) !== undefined);
  const isOurs = supplier === undefined && job.canWriteStated(stated);
  if (isOurs || job.home === undefined) return;
  await place(job, job.home.node.file, withReplicas(name, want));
}

async function place(job: Job, file: string, change: (value: JsonObject) => JsonObject): Promise<void> {
  if (!(await editKustomization(job.files, file, change)).ok) return;
  const have = valueAt(job.built, path);
  // The build gives a size only where something states one.
  if (have !== undefined) job.wanted = setAt(job.wanted, path, have);
  else if (isObject(job.wanted.spec)) {
    const { replicas: _replicas, ...spec } = job.wanted.spec;
    job.wanted = { ...job.wanted, spec };
  }
}
