/** Numbers of one measurement: ours beside a floor measured in the same run, in turns. */

export interface Figure {
  readonly scenario: string;
  readonly measure: string;
  readonly unit: 'ms' | 'MB' | 'lines' | 'processes';
  readonly ours: Spread;
  /** The least work anybody could do for it; absent where the target is absolute. */
  readonly floor?: Spread;
  /** Median of ours over median of the floor. */
  readonly ratio?: number;
  readonly target: string;
  readonly met: boolean;
}

export interface Spread {
  readonly median: number;
  readonly p95: number;
  readonly runs: number;
}

export interface Rounds {
  readonly warmUps: number;
  readonly runs: number;
}

export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('nothing was measured');
  return { median: quantile(values, 0.5), p95: quantile(values, 0.95), runs: values.length };
}

/** Nearest rank: with few runs the p95 is the worst of them. */
function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}

/** A figure whose target is a ratio to the floor. */
export function ratioFigure(
  name: { readonly scenario: string; readonly measure: string },
  floor: readonly number[],
  ours: readonly number[],
  most: number,
): Figure {
  const spreads = { floor: spread(floor), ours: spread(ours) };
  const ratio = spreads.ours.median / spreads.floor.median;
  return { ...name, unit: 'ms', ...spreads, ratio, target: `<= ${most}x`, met: ratio <= most };
}

/** A figure about the slowest of a hundred: the floor's own times a factor, and some milliseconds more. */
export function tailFigure(
  name: { readonly scenario: string; readonly measure: string },
  floor: readonly number[],
  ours: readonly number[],
  { most, plusMs }: { readonly most: number; readonly plusMs: number },
): Figure {
  const [least, slowest] = [quantile(floor, 0.99), quantile(ours, 0.99)];
  return {
    ...{ ...name, unit: 'ms', floor: spread([least]), ours: spread([slowest]), ratio: slowest / least },
    target: `<= ${most}x + ${plusMs} ms`,
    met: slowest <= most * least + plusMs,
  };
}

/** A figure whose target is a number of its unit; a floor only shows how it stands. */
export function absoluteFigure(
  name: { readonly scenario: string; readonly measure: string; readonly unit: Figure['unit'] },
  values: readonly number[],
  most: number,
  floor?: readonly number[],
): Figure {
  const ours = spread(values);
  const figure = { ...name, ours, target: `<= ${most} ${name.unit}`, met: ours.median <= most };
  if (floor === undefined) return figure;
  const beside = spread(floor);
  return { ...figure, floor: beside, ratio: ours.median / beside.median };
}

/** Runs floor and ours in turns, so that what else the machine does hits both. */
export async function inTurns(
  rounds: Rounds,
  parties: { floor(round: number): Promise<number>; ours(round: number): Promise<number> },
): Promise<{ floor: number[]; ours: number[] }> {
  const times = { floor: [] as number[], ours: [] as number[] };
  for (let round = 0; round < rounds.warmUps + rounds.runs; round++) {
    const ours = await parties.ours(round);
    const floor = await parties.floor(round);
    if (round < rounds.warmUps) continue;
    times.floor.push(floor);
    times.ours.push(ours);
  }
  return times;
}
