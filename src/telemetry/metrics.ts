/** The registry of one process, made from the table of metrics. Every room counts here, at the place of the decision. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type MetricName, type MetricRow, metricPrefix, metricsTable } from './metrics-table.ts';

export { type MetricName, metricsPage, metricsTable, placementRefusals } from './metrics-table.ts';

type Table = typeof metricsTable;
type NamesOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: Table[Name]['type'] extends Type ? Name : never;
}[MetricName];

/** All labels of a metric, each with a value. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<Table[Name]['labels'][number], string>>;

export interface Metrics {
  count<Name extends NamesOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  set<Name extends NamesOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  observe<Name extends NamesOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Ends every series of a metric that has these label values, for things that are gone. */
  forget<Name extends MetricName>(name: Name, labels: Partial<LabelsOf<Name>>): void;
  /** Prometheus text. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Longest label value: what comes from outside must not fill the memory of a scraper. */
const maxLabel = 200;

type Any = Counter | Gauge | Histogram;

interface Series {
  readonly metric: Any;
  readonly labels: readonly string[];
  readonly known: Map<string, Readonly<Record<string, string>>>;
}

/** @param process false: without process and event-loop metrics, which keep an observer running */
export function createMetrics(options: { readonly process: boolean }): Metrics {
  const registry = new Registry();
  if (options.process) collectDefaultMetrics({ register: registry });
  const metrics = new Map<string, Series>();
  const rows: [string, MetricRow][] = Object.entries(metricsTable);
  for (const [name, row] of rows) {
    const metric = create(registry, `${metricPrefix}${name}`, row);
    metrics.set(name, { metric, labels: row.labels, known: new Map() });
  }

  return {
    count(name, labels, by = 1) {
      const { metric, series } = find(name, labels);
      if (metric instanceof Counter) metric.inc(series, by);
    },
    set(name, labels, value) {
      const { metric, series } = find(name, labels);
      if (metric instanceof Gauge) metric.set(series, value);
    },
    observe(name, labels, value) {
      const { metric, series } = find(name, labels);
      if (metric instanceof Histogram) metric.observe(series, value);
    },
    forget(name, labels) {
      const { metric, known = new Map() } = metrics.get(name) ?? {};
      const wanted = Object.entries(bounded(labels));
      for (const [key, series] of known) {
        if (!wanted.every(([label, value]) => series[label] === value)) continue;
        known.delete(key);
        metric?.remove(series);
      }
    },
    async text() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };

  /** Remembers the label set, so that it can be ended. */
  function find(name: MetricName, labels: Readonly<Partial<Record<string, string>>>) {
    const entry = metrics.get(name);
    if (entry === undefined) return { metric: undefined, series: {} };
    const key = entry.labels.map((label) => labels[label] ?? '').join('\u0000');
    const series = entry.known.get(key) ?? bounded(labels);
    if (!entry.known.has(key)) entry.known.set(key, series);
    return { metric: entry.metric, series };
  }
}

function create(registry: Registry, name: string, row: MetricRow): Any {
  const common = { name, help: row.meaning, labelNames: [...row.labels], registers: [registry] };
  switch (row.type) {
    case 'counter': {
      const counter = new Counter(common);
      for (const labels of knownSeries(row)) counter.inc(labels, 0);
      return counter;
    }
    case 'gauge': {
      const gauge = new Gauge(common);
      for (const labels of knownSeries(row)) gauge.set(labels, 0);
      return gauge;
    }
    case 'histogram': {
      const histogram = new Histogram({ ...common, buckets: [...(row.buckets ?? [])] });
      for (const labels of knownSeries(row)) histogram.zero(labels);
      return histogram;
    }
  }
}

/** Every combination of label values, when all of them are known beforehand. */
function knownSeries({ labels, values = {} }: MetricRow): Record<string, string>[] {
  let series: Record<string, string>[] = [{}];
  for (const label of labels) {
    const known = values[label];
    if (known === undefined) return [];
    series = series.flatMap((one) => known.map((value) => ({ ...one, [label]: value })));
  }
  return labels.length === 0 ? [] : series;
}

function bounded(labels: Readonly<Partial<Record<string, string>>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value = '']) => [name, value.slice(0, maxLabel)]),
  );
}
