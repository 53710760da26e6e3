/** A stream on a server a test programs, under a clock it moves. */
import type { Collection, StreamHandler } from '../../src/kube/collection.ts';
import { CollectionStream, type StreamOptions } from '../../src/kube/watch.ts';
import { type Behaviour, clientOf, type FaultServer, startFaultServer } from './fault-server.ts';
import { eventually, ManualClock } from './manual-clock.ts';
import { configMaps, type Recorder, recorder } from './recorder.ts';

export interface StreamBench {
  readonly server: FaultServer;
  readonly clock: ManualClock;
  readonly stream: CollectionStream;
  readonly handler: Recorder;
  /** What `run` came to. */
  readonly running: Promise<void>;
  /** Waits for the pause between two attempts and returns its length, without moving time. */
  pause(): Promise<number>;
  /** Moves time over the pause, waits until the next request is there, and returns the pause. */
  nextAttempt(): Promise<number>;
  /** Waits until a deadline of this length runs, then lets it pass. */
  expire(deadlineMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface BenchOptions extends Partial<StreamOptions> {
  readonly told?: Partial<StreamHandler>;
  readonly collection?: Collection;
}

/** Silence on an open stream, in a first streaming list, and until the headers of an answer. */
export const patience = { stall: 90_000, firstWatchList: 10_000, headers: 30_000 };

// With random() at 0.5 there is no jitter, so no pause is as long as a deadline.
const deadlines = Object.values(patience);

export async function streamBench(behaviour: Behaviour, options: BenchOptions = {}): Promise<StreamBench> {
  const server = await startFaultServer(behaviour);
  const clock = new ManualClock();
  const handler = recorder(options.told);
  const client = clientOf(server, {}, clock);
  const stream = new CollectionStream({
    client,
    collection: configMaps,
    handler,
    clock,
    random: () => 0.5,
    ...options,
  });
  const running = stream.run();
  running.catch(() => undefined);

  async function pause(): Promise<number> {
    let found = 0;
    await eventually('a pause between attempts', () => {
      const [only = 0, ...others] = clock.waiting();
      found = only;
      return others.length === 0 && only > 0 && !deadlines.includes(only);
    });
    return found;
  }

  return {
    server,
    clock,
    stream,
    handler,
    running,
    pause,
    async nextAttempt() {
      const length = await pause();
      const before = server.requests.length;
      clock.runNext();
      await eventually('the next attempt', () => server.requests.length > before);
      return length;
    },
    async expire(deadlineMs) {
      await eventually(`a deadline of ${deadlineMs} ms`, () => clock.waiting().includes(deadlineMs));
      clock.advance(deadlineMs);
    },
    async close() {
      await stream.stop();
      await client.close();
      await server.close();
    },
  };
}
