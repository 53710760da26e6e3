import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitBranchConditions } from '../../src/api/conditions.ts';
import { forgetConditionMetrics, setConditionMetrics } from '../../src/controllers/condition-metrics.ts';
import { conditionsOf, gatesOf } from '../../src/controllers/gates.ts';
import { createMetrics, metricsPage, metricsTable } from '../../src/telemetry/metrics.ts';
import type { MetricRow } from '../../src/telemetry/metrics-table.ts';
import { reasonsTable } from '../../src/telemetry/reasons.ts';

const rows: [string, MetricRow][] = Object.entries(metricsTable);
const target = { gittarget_namespace: 'shop', gittarget_name: 'live' } as const;

async function lines(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const { body } = await metrics.text();
  return body.split('\n').filter((line) => line.startsWith(`gitopsreverser_${name}`));
}

describe('the table of metrics', () => {
  it('names no object and no path in a label', () => {
    const allowed = new Set([
      'gittarget_namespace',
      'gittarget_name',
      'resource_namespace',
      'resource_name',
      'provider_namespace',
      'provider_name',
    ]);
    for (const [name, { labels }] of rows) {
      for (const label of labels) {
        assert.ok(
          allowed.has(label) || !/(^|_)(name|namespace|path|object|uid|message)$/.test(label),
          `${name}: ${label}`,
        );
      }
    }
  });

  it('follows the naming of Prometheus', () => {
    for (const [name, { type, buckets }] of rows) {
      assert.equal(name.endsWith('_total'), type === 'counter', name);
      assert.equal(buckets !== undefined, type === 'histogram', name);
      if (type === 'histogram') assert.match(name, /_seconds$/);
    }
  });

  it('has a query that uses the metric, on the page with its meaning and its bad value', () => {
    const page = metricsPage();
    for (const [name, { query, meaning, bad }] of rows) {
      assert.ok(query.includes(`gitopsreverser_${name}`), name);
      for (const text of [`## \`gitopsreverser_${name}\``, meaning, query, bad])
        assert.ok(page.includes(text), text);
    }
  });
});

describe('the registry', () => {
  it('has the series whose labels are known from the start', async () => {
    const refusals = await lines(createMetrics({ process: false }), 'placement_refusals_total');
    assert.equal(refusals.length, 4);
    assert.ok(refusals.every((line) => line.endsWith(' 0')));
  });

  it('counts, sets and observes', async () => {
    const metrics = createMetrics({ process: false });
    metrics.count('apply_window_collisions_total', target);
    metrics.count('apply_window_collisions_total', target, 2);
    metrics.set('watch_streams_open', { ...target, source_cluster: 'default' }, 3);
    metrics.observe('api_catalog_refresh_duration_seconds', { source_cluster: 'default' }, 0.2);
    assert.match((await lines(metrics, 'apply_window_collisions_total')).join(), / 3$/);
    assert.match((await lines(metrics, 'watch_streams_open')).join(), / 3$/);
    assert.ok((await lines(metrics, 'api_catalog_refresh_duration_seconds_count')).join().endsWith(' 1'));
  });

  it('ends the series of what is gone, and no others', async () => {
    const metrics = createMetrics({ process: false });
    for (const state of ['streaming', 'blocked']) {
      metrics.set('watch_types', { ...target, source_cluster: 'default', state }, 1);
      metrics.set(
        'watch_types',
        { gittarget_namespace: 'shop', gittarget_name: 'other', source_cluster: 'default', state },
        1,
      );
    }
    metrics.forget('watch_types', target);
    const left = await lines(metrics, 'watch_types');
    assert.equal(left.length, 2);
    assert.ok(left.every((line) => line.includes('gittarget_name="other"')));
    metrics.set('watch_types', { ...target, source_cluster: 'default', state: 'blocked' }, 1);
    assert.equal((await lines(metrics, 'watch_types')).length, 3);
  });

  it('cuts a label that came from outside', async () => {
    const metrics = createMetrics({ process: false });
    metrics.count('apply_window_collisions_total', {
      gittarget_namespace: 'x'.repeat(5_000),
      gittarget_name: 'live',
    });
    assert.ok(((await lines(metrics, 'apply_window_collisions_total'))[0]?.length ?? 0) < 400);
  });
});

describe('conditions as metrics', () => {
  const { ready } = gatesOf(gitBranchConditions);
  const object = { name: 'git-main', namespace: 'shop' };
  const conditions = (contributor: ReturnType<typeof ready>) =>
    conditionsOf(
      [],
      gitBranchConditions,
      { gates: [], contributors: [contributor] },
      1,
      '2026-01-01T12:00:00Z',
    );

  it('are three series per condition of the trio, of which one is 1, with the reason of now only', async () => {
    const metrics = createMetrics({ process: false });
    setConditionMetrics(metrics, 'GitBranch', object, conditions(ready('Checking')));
    setConditionMetrics(metrics, 'GitBranch', object, conditions(ready('PushRefused')));
    const series = await lines(metrics, 'resource_condition');
    assert.equal(series.length, 9);
    assert.equal(series.filter((line) => line.endsWith(' 1')).length, 3);
    assert.ok(series.every((line) => line.includes('reason="PushRefused"')));
    assert.ok(series.some((line) => line.includes('type="Stalled",status="True"') && line.endsWith(' 1')));
  });

  it('end with the object', async () => {
    const metrics = createMetrics({ process: false });
    setConditionMetrics(metrics, 'GitBranch', object, conditions(ready('Checking')));
    forgetConditionMetrics(metrics, 'GitBranch', object);
    assert.deepEqual(await lines(metrics, 'resource_condition'), []);
  });
});

describe('reasons', () => {
  it('have one meaning: whoever can act is the same wherever a word stands', () => {
    const actors = new Map<string, Set<string>>();
    for (const { reason, actor } of reasonsTable())
      actors.set(reason, (actors.get(reason) ?? new Set()).add(actor));
    const torn = [...actors].filter(([, set]) => set.size > 1).map(([reason]) => reason);
    // Two documents of one identity, and two GitBranches of one branch.
    // A layout is mended in the folder by its author, or by a placement in the spec.
    const known = new Set(['Duplicate', 'AmbiguousLayout']);
    assert.deepEqual(
      torn.filter((reason) => !known.has(reason)),
      [],
    );
  });

  it('are words that Kubernetes takes for a reason', () => {
    for (const { reason } of reasonsTable()) assert.match(reason, /^[A-Z][A-Za-z0-9]{1,62}$/);
  });
});

describe('every metric', () => {
  it('is counted somewhere', () => {
    const root = join(import.meta.dirname, '../../src');
    const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('metrics-table.ts'))
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .join('\n');
    const uncounted = Object.keys(metricsTable).filter((name) => !code.includes(`'${name}'`));
    assert.deepEqual(uncounted, []);
  });
});
