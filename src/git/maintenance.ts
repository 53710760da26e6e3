/** Keeps the repository small: what fetches and imports leave behind becomes one pack, what nothing names goes. */
import { type Git, git, succeeded } from './command.ts';
import { failureOf, type GitFailure } from './failure.ts';

export interface MaintenanceOptions {
  readonly maxLooseObjects?: number;
  readonly maxPacks?: number;
}

interface StoreSize {
  readonly looseObjects: number;
  readonly packs: number;
  readonly bytes: number;
}

export type MaintenanceResult =
  | { readonly kind: 'ok'; readonly repacked: boolean; readonly size: StoreSize }
  | GitFailure;

const defaultMaxLooseObjects = 4_000;
/** Every fetch that brings something leaves a pack: git checks objects only on that way. */
const defaultMaxPacks = 50;
/** A branch that was rewritten can still be compared with what it was for this long. */
const keepUnnamed = '3.days.ago';
const deadlineMs = 10 * 60_000;

/** Repacks when a bound is passed; else only counts. For a quiet moment: it costs seconds on a large repository. */
export async function maintain(
  repository: Git,
  options: MaintenanceOptions = {},
): Promise<MaintenanceResult> {
  const { maxLooseObjects = defaultMaxLooseObjects, maxPacks = defaultMaxPacks } = options;
  const before = await storeSize(repository);
  if (before.kind !== 'ok') return before;
  const { size } = before;
  if (size.looseObjects <= maxLooseObjects && size.packs <= maxPacks)
    return { kind: 'ok', repacked: false, size };
  const result = await git(repository, ['gc', '--quiet', '--cruft', `--prune=${keepUnnamed}`], {
    deadlineMs,
  });
  if (!succeeded(result)) return failureOf(result, 'repacking the repository');
  const after = await storeSize(repository);
  return after.kind === 'ok' ? { kind: 'ok', repacked: true, size: after.size } : after;
}

async function storeSize(repository: Git): Promise<{ kind: 'ok'; size: StoreSize } | GitFailure> {
  const result = await git(repository, ['count-objects', '-v']);
  if (!succeeded(result)) return failureOf(result, 'measuring the repository');
  const counts = new Map(
    result.stdout
      .toString()
      .split('\n')
      .map((line) => line.split(': ') as [string, string]),
  );
  const count = (name: string) => Number(counts.get(name) ?? 0);
  const bytes = 1024 * (count('size') + count('size-pack') + count('size-garbage'));
  return { kind: 'ok', size: { looseObjects: count('count'), packs: count('packs'), bytes } };
}
