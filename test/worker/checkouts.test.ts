import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { silentLog } from '../../src/telemetry/log.ts';
import { type CheckoutLimits, Checkouts } from '../../src/worker/checkouts.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { ManualClock } from '../kube/manual-clock.ts';

const graceMs = 60_000;
const commit = (number: number) => number.toString(16).padStart(40, '0');
const files = 20;

describe('the shared checkouts', () => {
  const folder = temporaryFolder('checkouts');
  let made = 0;
  after(() => folder.remove());

  /** Commits here are folders of files that all hold the name of their commit; one file at a time, as a disk has it. */
  async function start({
    limits,
    dir = join(folder.path, `${made++}`),
  }: {
    limits?: Partial<CheckoutLimits>;
    dir?: string;
  } = {}) {
    const clock = new ManualClock();
    let written = 0;
    const checkouts = new Checkouts({
      dir,
      async write(_repository, wanted, into) {
        written++;
        if (wanted.startsWith('f')) return { kind: 'unfit', message: 'it has a submodule' };
        await mkdir(into);
        for (let file = 0; file < files; file++) await writeFile(join(into, `${file}`), wanted);
        return { kind: 'ok', bytes: 10 };
      },
      async remove(old) {
        for (let file = 0; file < files; file++) await rm(join(old, `${file}`), { force: true });
        await rm(old, { recursive: true, force: true });
      },
      clock,
      log: silentLog(),
      limits: { graceMs, ...limits },
    });
    return { dir, clock, checkouts, written: () => written };
  }

  const commits = (dir: string) =>
    existsSync(join(dir, 'commits')) ? readdirSync(join(dir, 'commits')).sort() : [];

  it('show a commit by its name and by the target', async () => {
    const { dir, checkouts } = await start();
    assert.equal(await checkouts.show('shop/live', 'git.example.com/x', commit(1)), true);
    assert.equal(readFileSync(join(dir, 'commits', commit(1), '0'), 'utf8'), commit(1));
    assert.equal(readFileSync(join(dir, 'targets/shop/live/0'), 'utf8'), commit(1));
    assert.equal(readlinkSync(join(dir, 'targets/shop/live')), `../../commits/${commit(1)}`);
  });

  it('write a commit once for all targets', async () => {
    const { checkouts, written } = await start();
    await Promise.all(['a/a', 'b/b', 'a/a'].map((target) => checkouts.show(target, 'x', commit(1))));
    assert.equal(written(), 1);
  });

  it('keep an older commit for those who read it, and then no longer', async () => {
    const { dir, checkouts, clock } = await start();
    await checkouts.show('a/a', 'x', commit(1));
    await checkouts.show('a/a', 'x', commit(2));
    clock.advance(graceMs - 1);
    await checkouts.show('a/a', 'x', commit(3));
    assert.deepEqual(commits(dir), [1, 2, 3].map(commit));
    clock.advance(1);
    await checkouts.show('a/a', 'x', commit(4));
    assert.deepEqual(commits(dir), [2, 3, 4].map(commit));
    clock.advance(graceMs);
    await checkouts.show('a/a', 'x', commit(4));
    assert.deepEqual(commits(dir), [commit(4)]);
  });

  it('keep a commit as long as somebody asks for it', async () => {
    const { dir, checkouts, clock } = await start();
    await checkouts.show('a/a', 'x', commit(1));
    await checkouts.show('a/a', 'x', commit(2));
    clock.advance(graceMs - 1);
    checkouts.renew(commit(1));
    clock.advance(graceMs - 1);
    await checkouts.show('a/a', 'x', commit(3));
    assert.deepEqual(commits(dir), [1, 2, 3].map(commit));
    clock.advance(1);
    await checkouts.show('a/a', 'x', commit(4));
    assert.deepEqual(commits(dir), [2, 3, 4].map(commit));
  });

  it('never hold more than their number; the newest is shown once a place is free', async () => {
    const { dir, checkouts, clock } = await start({ limits: { commits: 3 } });
    const shown: boolean[] = [];
    for (let number = 1; number <= 6; number++) shown.push(await checkouts.show('a/a', 'x', commit(number)));
    assert.deepEqual(shown, [true, true, true, false, false, false]);
    assert.deepEqual(commits(dir), [1, 2, 3].map(commit));
    clock.advance(graceMs);
    assert.equal(await checkouts.show('b/b', 'x', commit(3)), true);
    assert.deepEqual(commits(dir), [3, 6].map(commit));
    assert.equal(readFileSync(join(dir, 'targets/a/a/0'), 'utf8'), commit(6));
  });

  it('never hold more than their bytes', async () => {
    const { dir, checkouts } = await start({ limits: { bytes: 20 } });
    for (let number = 1; number <= 4; number++) await checkouts.show(`a/${number}`, 'x', commit(number));
    assert.deepEqual(commits(dir), [1, 2].map(commit));
  });

  it('do without a commit that cannot be had faithfully, and try it once', async () => {
    const { dir, checkouts, written } = await start();
    const odd = `f${commit(1).slice(1)}`;
    assert.equal(await checkouts.show('a/a', 'x', odd), false);
    assert.equal(await checkouts.show('b/b', 'x', odd), false);
    assert.equal(written(), 1);
    assert.deepEqual(commits(dir), []);
  });

  it('take no name that is no commit', async () => {
    const { dir, checkouts } = await start();
    assert.equal(await checkouts.show('a/a', 'x', '../../outside'), false);
    assert.deepEqual(commits(dir), []);
  });

  it('drop the link of a target that is gone', async () => {
    const { dir, checkouts } = await start();
    await checkouts.show('a/a', 'x', commit(1));
    await checkouts.forget('a/a');
    assert.equal(existsSync(join(dir, 'targets/a/a')), false);
    assert.equal(checkouts.repositoryOf('a/a'), undefined);
    assert.deepEqual(commits(dir), [commit(1)]);
  });

  it('take over whole commits of an earlier life, and remove what was half made', async () => {
    const first = await start();
    await first.checkouts.show('a/a', 'x', commit(1));
    await first.checkouts.stop();
    mkdirSync(join(first.dir, 'commits', '.new-7'));
    writeFileSync(join(first.dir, 'commits', '.new-7', '0'), 'half');
    const second = await start({ dir: first.dir });
    await second.checkouts.show('a/a', 'x', commit(2));
    assert.deepEqual(commits(first.dir), [1, 2].map(commit));
    second.clock.advance(graceMs);
    await second.checkouts.show('a/a', 'x', commit(2));
    assert.deepEqual(commits(first.dir), [commit(2)]);
  });

  it('survive a volume that cannot be written', async () => {
    const dir = join(folder.path, 'a-file');
    writeFileSync(dir, '');
    const { checkouts } = await start({ dir });
    assert.equal(await checkouts.show('a/a', 'x', commit(1)), false);
    await checkouts.stop();
  });

  it('never let a reader see half a commit, whatever happens at once', async function () {
    this.timeout(300_000);
    const targets = ['a/a', 'b/b', 'c/c'];
    const numbers = Array.from({ length: 12 }, (_, at) => at + 1);
    let seen = 0;
    const step = fc.record({
      target: fc.constantFrom(...targets),
      number: fc.constantFrom(...numbers),
      waitMs: fc.constantFrom(0, 0, 1_000, graceMs),
      forget: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const { dir, clock, checkouts } = await start({ limits: { commits: 4 } });
        let over = false;
        /** Reads what it finds, and holds on to it for less than the grace. */
        const reader = async (
          names: readonly string[],
          find: (name: string) => Promise<string | undefined>,
        ) => {
          while (!over) {
            for (const name of names) {
              const startedAt = clock.now();
              const tree = await find(name);
              if (tree === undefined) continue;
              const whole = await isWhole(tree);
              if (clock.now() - startedAt >= graceMs) continue;
              assert.ok(whole, `${tree} was seen half`);
              seen++;
            }
            await turn();
          }
        };
        const readers = [
          reader(targets, (target) => realpath(join(dir, 'targets', target)).catch(() => undefined)),
          reader(numbers.map(commit), async (one) => {
            checkouts.renew(one);
            const tree = join(dir, 'commits', one);
            return existsSync(tree) ? tree : undefined;
          }),
        ];
        try {
          for (const { target, number, waitMs, forget } of steps) {
            if (forget) await checkouts.forget(target);
            else await checkouts.show(target, 'x', commit(number));
            clock.advance(waitMs);
            await turn();
            const names = commits(dir).filter((name) => !name.startsWith('.'));
            assert.ok(names.length <= 4, `${names.length} commits are kept`);
          }
        } finally {
          over = true;
          await Promise.all(readers);
          await checkouts.stop();
        }
      }),
      { numRuns: 40 },
    );
    assert.ok(seen > 100, `only ${seen} trees were looked at`);
  });

  it('have no link but those of their targets', async () => {
    const { dir, checkouts } = await start();
    await checkouts.show('a/a', 'x', commit(1));
    await checkouts.show('a/b', 'x', commit(2));
    const links = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
      lstatSync(join(dir, path)).isSymbolicLink(),
    );
    assert.deepEqual(links.sort(), ['targets/a/a', 'targets/a/b']);
  });
});

/** Every file of a commit is there and is of that commit. */
async function isWhole(tree: string): Promise<boolean> {
  const name = tree.slice(-40);
  const found = await Promise.all(
    Array.from({ length: files }, (_, file) =>
      readFile(join(tree, `${file}`), 'utf8').catch(() => undefined),
    ),
  );
  return found.every((text) => text === name);
}
