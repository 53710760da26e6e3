/** Prints figures: a table for people, JSON for programs. */
import { availableParallelism, loadavg } from 'node:os';
import type { Figure, Spread } from './measure.ts';

export interface Machine {
  readonly cores: number;
  /** One-minute load before the first and after the last scenario. */
  readonly load: { readonly before: number; readonly after: number };
  readonly node: string;
}

export function machine(loadBefore: number): Machine {
  const after = loadavg()[0] ?? 0;
  return { cores: availableParallelism(), load: { before: loadBefore, after }, node: process.version };
}

export function asTable(figures: readonly Figure[], { cores, load, node }: Machine): string {
  const rows = figures.map((figure) => [
    figure.scenario,
    figure.measure,
    figure.floor === undefined ? '-' : withUnit(figure.floor, figure.unit),
    withUnit(figure.ours, figure.unit),
    figure.ratio === undefined ? '-' : `${figure.ratio.toFixed(2)}x`,
    figure.target,
    figure.met ? 'met' : 'MISSED',
  ]);
  const header = ['scenario', 'measure', 'floor (p95)', 'ours (p95)', 'ratio', 'target', 'result'];
  const all = [header, header.map(() => '---'), ...rows];
  const widths = header.map((_name, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const about = `${cores} cores, load ${load.before.toFixed(1)} before and ${load.after.toFixed(1)} after, Node ${node}`;
  return `${all.map(line).join('\n')}\n${about}\n`;
}

export function asJson(figures: readonly Figure[], about: Machine): string {
  return `${JSON.stringify({ machine: about, figures }, undefined, 2)}\n`;
}

function withUnit({ median, p95, runs }: Spread, unit: string): string {
  const digits = median < 10 ? 2 : median < 100 ? 1 : 0;
  const tail = runs === 1 ? '' : ` (${p95.toFixed(digits)})`;
  return `${median.toFixed(digits)}${tail} ${unit}`;
}
