/** Garbage collection on demand, for tests that weigh memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** Bytes of the heap that are still reachable. */
export function reachableBytes(): number {
  if (typeof collect !== 'function') throw new Error('this Node has no garbage collector to call');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
