/** The conditions of our objects as metrics: three series per condition of the trio, which end with the object. */
import type { Condition } from '../api/condition.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { KindName } from './objects.ts';

interface Name {
  readonly name: string;
  readonly namespace?: string | undefined;
}

const trio = ['Ready', 'Reconciling', 'Stalled'] as const;
const statuses = ['True', 'False', 'Unknown'] as const;

export function setConditionMetrics(
  metrics: Metrics,
  kind: KindName,
  object: Name,
  conditions: readonly Condition[],
): void {
  forgetConditionMetrics(metrics, kind, object);
  for (const type of trio) {
    const condition = conditions.find((one) => one.type === type);
    if (condition === undefined) continue;
    for (const status of statuses) {
      const labels = { ...labelsOf(kind, object), type, status, reason: condition.reason };
      metrics.set('resource_condition', labels, condition.status === status ? 1 : 0);
    }
  }
}

export function forgetConditionMetrics(metrics: Metrics, kind: KindName, object: Name): void {
  metrics.forget('resource_condition', labelsOf(kind, object));
}

function labelsOf(kind: KindName, { name, namespace = '' }: Name) {
  return { kind, resource_namespace: namespace, resource_name: name };
}
