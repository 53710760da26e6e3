/** A hook after the gate that ends when the test says so: the moment between the answer and the apply. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../sidecar.ts';

export const pauseFile = `apiVersion: batch/v1
kind: Job
metadata:
  name: pause
  annotations:
    argocd.argoproj.io/hook: PreSync
    argocd.argoproj.io/hook-delete-policy: BeforeHookCreation
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: pause, image: pause}]
`;

export interface Pauses {
  /** Runs before the next Job goes on. */
  between(act: () => Promise<unknown>): void;
  stop(): Promise<void>;
}

/** Lets every Job named `pause` of a namespace go on, after what `between` was told has run once. */
export function letPausesGoOn(world: World, name: string): Pauses {
  let going = true;
  let between: (() => Promise<unknown>) | undefined;
  const done = (async () => {
    while (going) {
      const text = await world
        .kubectl('get', 'job', 'pause', '-n', name, '-o', 'jsonpath={.metadata.uid} {.status.succeeded}')
        .catch(() => '');
      const [uid = '', succeeded = ''] = text.split(' ');
      if (uid !== '' && succeeded === '') {
        await between?.();
        between = undefined;
        await complete(world, name).catch(() => undefined);
      }
      await sleep(200);
    }
  })();
  return {
    between(act) {
      between = act;
    },
    async stop() {
      going = false;
      await done;
    },
  };
}

async function complete(world: World, name: string): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const met = { status: 'True', lastProbeTime: now, lastTransitionTime: now };
  const conditions = [
    { type: 'SuccessCriteriaMet', ...met },
    { type: 'Complete', ...met },
  ];
  const status = { startTime: now, completionTime: now, succeeded: 1, conditions };
  await world.kubectl(
    ...['patch', 'job', 'pause', '-n', name, '--subresource=status', '--type=merge'],
    ...['-p', JSON.stringify({ status })],
  );
}
