/** The API group, its version, and the annotations people and our commands set. */

export const apiGroup = 'configbutler.ai';
export const apiVersionName = 'v1alpha3';
export const apiVersion = `${apiGroup}/${apiVersionName}`;

export const annotations = {
  /** Any new value: read Git again and take a new snapshot (GitTarget), look at the remote again and lift a stop (GitBranch). */
  requestedAt: 'reconcile.configbutler.ai/requestedAt',
  /** Any new value: publish every edit accepted so far; answered in `status.lastHandledFlushAt`. */
  flushRequestedAt: 'reconcile.configbutler.ai/flushRequestedAt',
} as const;
