/**
 * What the git room costs beside the least work git itself can do for it. Run: node test/git/bench.ts
 * Both parties work on the same remote of 10,000 files, in turns; the ratio counts, not the milliseconds.
 */
import { join } from 'node:path';
import { parseRepositoryUrl } from '../../src/core/repository-url.ts';
import type { Access } from '../../src/git/credentials.ts';
import { commitChain, joinStream } from '../../src/git/import-stream.ts';
import { openRepository, type Repository } from '../../src/git/repository.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { git } from '../cluster/git.ts';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';

const files = 10_000;
const runs = 12;
const warmUps = 3;
const person = { name: 'Alice', email: 'alice@example.com', date: new Date('2026-01-02T03:04:05Z') };

function specOf(n: number, count = 1) {
  const changed = Array.from({ length: count }, (_unused, at) => ({
    path: pathOf(at),
    content: bodyOf(at, n),
  }));
  return { message: `Edit ${n}`, author: person, committer: person, files: changed };
}

function pathOf(n: number): string {
  return `clusters/ns-${n % 50}/deployment/object-${n}.yaml`;
}

function bodyOf(n: number, replicas: number): string {
  const lines = Array.from(
    { length: 40 },
    (_unused, at) => `  field-${at}: value of ${n} and ${(n * 7919 + at) % 1009}`,
  );
  return `apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: ${replicas}\n${lines.join('\n')}\n`;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function ok<T extends { readonly kind: string }, K extends T['kind']>(
  result: T,
  kind: K,
): Extract<T, { readonly kind: K }> {
  if (result.kind !== kind) throw new Error(JSON.stringify(result));
  return result as Extract<T, { readonly kind: K }>;
}

/** The floor: fast-import and push in a bare clone, nothing else. */
async function rawPush(dir: string, url: string, base: string, stream: Buffer): Promise<string> {
  const output = await git(['fast-import', '--quiet', '--force'], { cwd: dir, stdin: stream });
  const lines = output.trim().split('\n');
  const tip = lines.at(-2) ?? '';
  await git(
    ['push', '--quiet', `--force-with-lease=refs/heads/main:${base}`, url, `${tip}:refs/heads/main`],
    { cwd: dir },
  );
  return tip;
}

async function ourPush(
  repository: Repository,
  access: Access,
  base: string,
  commits: ReturnType<typeof specOf>[],
): Promise<string> {
  const made = ok(await repository.commit({ branch: 'main', base, commits }), 'ok').commits;
  const newTip = made.at(-1)?.commit ?? '';
  ok(await repository.push({ branch: 'main', newTip, expectedOld: base, access }), 'pushed');
  return newTip;
}

async function compare(
  name: string,
  server: GitServer | undefined,
  batch: (n: number) => ReturnType<typeof specOf>[],
): Promise<void> {
  const folder = temporaryFolder('git-bench');
  const remotes: string[] = [];
  for (const party of ['raw', 'ours']) {
    const bare = server
      ? server.bareDir(`${party}-${name.replaceAll(' ', '-')}`)
      : join(folder.path, `${party}.git`);
    await git(['init', '--quiet', '--bare', '--initial-branch=main', bare]);
    await git(['config', 'http.receivepack', 'true'], { cwd: bare });
    await git(['config', 'gc.auto', '0'], { cwd: bare });
    await git(['fast-import', '--quiet'], {
      cwd: bare,
      stdin: joinStream(commitChain('refs/heads/main', null, [specOf(0, files)])),
    });
    remotes.push(server ? server.url(`${party}-${name.replaceAll(' ', '-')}`) : `file://${bare}`);
  }
  const [rawUrl = '', ourUrl = ''] = remotes;
  const raw = join(folder.path, 'clone.git');
  await git(['clone', '--quiet', '--bare', rawUrl, raw]);
  const parsed = parseRepositoryUrl(ourUrl, { allowHttp: true, allowFile: true });
  if (!parsed.ok) throw new Error(parsed.message);
  const access: Access = { url: parsed.url, credentials: { kind: 'anonymous' } };
  const volume = join(folder.path, 'volume');
  const { repository } = ok(
    await openRepository({ volume, url: parsed.url, ambient: process.env, allowHttp: true, allowFile: true }),
    'ok',
  );
  let ourTip = ok(await repository.fetch('main', access), 'ok').tip;
  let rawTip = (await git(['rev-parse', 'refs/heads/main'], { cwd: raw })).trim();
  const rawTimes: number[] = [];
  const ourTimes: number[] = [];
  for (let n = 1; n <= runs + warmUps; n++) {
    const commits = batch(n);
    const stream = joinStream(commitChain('refs/heads/bench', rawTip, commits));
    const rawTime = await timed(async () => {
      rawTip = await rawPush(raw, rawUrl, rawTip, stream);
    });
    const ourTime = await timed(async () => {
      ourTip = await ourPush(repository, access, ourTip, commits);
    });
    if (n > warmUps) {
      rawTimes.push(rawTime);
      ourTimes.push(ourTime);
    }
  }
  const [floor, ours] = [median(rawTimes), median(ourTimes)];
  console.log(
    `${name}: floor ${floor.toFixed(0)} ms, ours ${ours.toFixed(0)} ms, ratio ${(ours / floor).toFixed(2)}`,
  );
  if (server === undefined) await measureLocal(repository, ourTip);
  await repository.close();
  await folder.remove();
}

async function measureLocal(repository: Repository, tip: string): Promise<void> {
  const { reader } = repository;
  const listing = await timed(() => reader.readTree(tip));
  const tree = await reader.readTree(tip);
  const reading = await timed(() => reader.readBlobs(tree.map((entry) => entry.id)));
  console.log(`list ${tree.length} files ${listing.toFixed(0)} ms, read all ${reading.toFixed(0)} ms`);
  const kept = repository.keptTree('bench');
  const entries = Array.from({ length: files }, (_unused, n) => ({
    path: keptPath(n),
    content: JSON.stringify({ n, text: bodyOf(n, 1) }),
  }));
  const insert = await timed(() => kept.write(entries));
  const updates: number[] = [];
  for (let n = 0; n < 30; n++) {
    updates.push(
      await timed(() =>
        kept.write([{ path: keptPath(n * 31), content: JSON.stringify({ n, again: true }) }]),
      ),
    );
  }
  const list = await timed(() => kept.list());
  console.log(
    `kept tree: insert ${files} ${insert.toFixed(0)} ms, one update ${median(updates).toFixed(0)} ms, list ${list.toFixed(0)} ms`,
  );
  const gc = await timed(() => repository.maintain({ maxLooseObjects: 0 }));
  const quiet = await timed(() => repository.maintain());
  console.log(`maintain: repack ${gc.toFixed(0)} ms, nothing to do ${quiet.toFixed(0)} ms`);
}

function keptPath(n: number): string {
  const hash = ((n * 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  return `objects/${hash.slice(0, 2)}/${hash.slice(2)}${n}`;
}

const server = await startGitServer();
await compare('one edit, file', undefined, (n) => [specOf(n)]);
await compare('one edit, http', server, (n) => [specOf(n)]);
await compare('200 commits at once, http', server, (n) =>
  Array.from({ length: 200 }, (_unused, at) => specOf(n * 1_000 + at)),
);
await compare('1,000 files in one commit, http', server, (n) => [specOf(n, 1_000)]);
await server.stop();
