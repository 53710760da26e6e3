/** Times as Kubernetes writes them: UTC, to the second. */

export function timestampOf(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
