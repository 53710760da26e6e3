/** What a scenario gets, and what it gives back. */
import type { World } from '../../e2e/sidecar.ts';
import type { ApiClient } from '../api-client.ts';
import type { Figure, Rounds } from '../measure.ts';

export interface Bench {
  readonly world: World;
  readonly api: ApiClient;
  readonly rounds: Rounds;
  /** A line for the person who waits. */
  progress(text: string): void;
  /** A name nobody has used. */
  fresh(what: string): string;
}

export type Scenario = (bench: Bench) => Promise<readonly Figure[]>;
