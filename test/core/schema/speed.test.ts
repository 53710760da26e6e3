import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { kindSchema, unexplained } from '../../../src/core/intent/schema/index.ts';
import type { JsonObject } from '../../../src/core/json.ts';

describe('the schema', () => {
  it('checks a Deployment in well under a millisecond', () => {
    const document = deployment({ image: 'web:1' });
    const live = deployment({
      image: 'web:1',
      imagePullPolicy: 'IfNotPresent',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      livenessProbe: {
        httpGet: { port: 80, path: '/', scheme: 'HTTP' },
        periodSeconds: 10,
        failureThreshold: 3,
      },
    });
    const check = (): number => unexplained(live, document, kindSchema('apps/v1', 'Deployment')).length;
    for (let round = 0; round < 200; round += 1) check();
    const times = Array.from({ length: 200 }, () => {
      const started = performance.now();
      check();
      return performance.now() - started;
    }).sort((a, b) => a - b);
    const median = times[100] ?? 0;
    console.log(`    median ${median.toFixed(3)} ms`);
    assert.ok(median < 1, `${median} ms`);
  });

  it('works bundled', async () => {
    const entry = fileURLToPath(new URL('../../../src/core/intent/schema/index.ts', import.meta.url));
    const { outputFiles } = await build({
      entryPoints: [entry],
      bundle: true,
      format: 'esm',
      write: false,
      platform: 'node',
    });
    const text = outputFiles[0]?.text ?? '';
    const bundled: { kindSchema: typeof kindSchema } = await import(
      `data:text/javascript,${encodeURIComponent(text)}`
    );
    assert.deepEqual(bundled.kindSchema('v1', 'Service').listKeys(['spec', 'ports']), ['port', 'protocol']);
  });
});

function deployment(container: JsonObject): JsonObject {
  const spec = { containers: [{ name: 'web', ports: [{ containerPort: 80 }], ...container }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec },
    },
  };
}
