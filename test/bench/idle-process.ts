/** A process that only waits, and tells when asked how late its own timers were: what the machine does to anybody. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { samplingMs } from './idle-delay.ts';

const delay = monitorEventLoopDelay({ resolution: samplingMs });
delay.enable();
process.on('message', () => {
  process.send?.(delay.percentile(99) / 1e6 - samplingMs);
  delay.reset();
});
