/** A stream handler that remembers what it was told. */
import { isObject, type JsonObject } from '../../src/core/json.ts';
import type { Collection, Snapshot, StreamHandler, StreamState } from '../../src/kube/collection.ts';

export interface Recorder extends StreamHandler {
  /** One word per call: `+web` and `~web` for an upsert (snapshot, live), `-web`, `settled 3`, `progress 12`, a state. */
  readonly told: string[];
  readonly objects: JsonObject[];
  readonly snapshots: (Omit<Snapshot, 'keys'> & { readonly keys: string[] })[];
  readonly states: StreamState[];
}

export const configMaps: Collection = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  namespace: 'shop',
  labelSelector: '',
};

export function recorder(overrides: Partial<StreamHandler> = {}): Recorder {
  const told: string[] = [];
  const objects: JsonObject[] = [];
  const snapshots: Recorder['snapshots'] = [];
  const states: StreamState[] = [];
  return {
    told,
    objects,
    snapshots,
    states,
    upsert(object, phase) {
      told.push(`${phase === 'snapshot' ? '+' : '~'}${nameOf(object)}`);
      objects.push(object);
    },
    delete(object) {
      told.push(`-${nameOf(object)}`);
      objects.push(object);
    },
    settled(snapshot) {
      told.push(`settled ${snapshot.count}`);
      snapshots.push({ ...snapshot, keys: [...snapshot.keys] });
    },
    progress(resourceVersion) {
      told.push(`progress ${resourceVersion}`);
    },
    state(state) {
      told.push(state.phase === 'blocked' ? state.reason : state.phase);
      states.push(state);
    },
    ...overrides,
  };
}

function nameOf({ metadata }: JsonObject): string {
  return isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : '?';
}
