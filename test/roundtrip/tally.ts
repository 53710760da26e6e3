/** What came of the journeys: numbers by heading, and a sentence for each thing that went wrong. */
import type { Manifest, ManifestFile } from './manifests.ts';

/** Where a fault showed. */
export type Stage = 'read back' | 'edit';

interface On {
  readonly file: ManifestFile;
  readonly maker: string;
}

export interface Tally {
  /** One more under a heading; `detail` tells apart what the heading takes together. */
  count(heading: string, manifest: Manifest, detail: string): void;
  wrong(stage: Stage, on: On, what: string): void;
  faults(stage: Stage): readonly string[];
  /** How many manifests were counted under a heading. */
  manifests(heading: string): number;
  total(heading: string): number;
  /** `Invalid 30, kind not served 11` */
  details(heading: string): string;
}

export function createTally(): Tally {
  const faults: Record<Stage, string[]> = { 'read back': [], edit: [] };
  const manifests = new Map<string, Set<Manifest>>();
  const details = new Map<string, Map<string, number>>();
  const detailsOf = (heading: string) => [...(details.get(heading) ?? [])].sort(([, a], [, b]) => b - a);
  return {
    count(heading, manifest, detail) {
      manifests.set(heading, (manifests.get(heading) ?? new Set<Manifest>()).add(manifest));
      const counts = details.get(heading) ?? new Map<string, number>();
      details.set(heading, counts.set(detail, (counts.get(detail) ?? 0) + 1));
    },
    wrong: (stage, { file, maker }, what) => faults[stage].push(`${file.path} (${maker}): ${what}`),
    faults: (stage) => faults[stage],
    manifests: (heading) => manifests.get(heading)?.size ?? 0,
    total: (heading) => detailsOf(heading).reduce((sum, [, count]) => sum + count, 0),
    details: (heading) =>
      detailsOf(heading)
        .map(([detail, count]) => `${detail} ${count}`)
        .join(', '),
  };
}
