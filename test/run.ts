/**
 * Runs every suite: the ones that start real servers beside the pure ones, two processes at a time, and ends with one plain
 * line, `N passed, N failed`. Arguments are patterns of test files; without one it is all of them.
 *
 * A file that failed is run once more, with the machine to itself: whole control planes and appliers beside each other can starve
 * one another. What fails alone too has failed; what does not is named.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { temporaryFolder } from './cluster/folder.ts';

interface Results {
  /** The file of each test that passed. */
  readonly passed: readonly string[];
  readonly failed: readonly { readonly file: string; readonly title: string }[];
  readonly skipped: readonly string[];
}

/** With more of them something is wrong, and the answer should not wait. */
const mostRunAgain = 6;
const jobs = Math.max(2, Math.min(4, availableParallelism()));
const given = process.argv.slice(2);
const reporter = ['--reporter', 'test/reporter.cjs'];
const folder = temporaryFolder('test-run');

const first = await run(
  ['--parallel', '--jobs', String(jobs)],
  given.length > 0 ? given : ['test/**/*.test.ts'],
);
const files = [...new Set(first.failed.map(({ file }) => file))];
const again = files.length > 0 && files.length <= mostRunAgain && !files.includes('');
const second = again ? await runAlone(files) : undefined;
await folder.remove();

for (const title of first.skipped) console.log(`skipped: ${title}`);
if (second !== undefined) {
  const still = new Set(second.failed.map(({ title }) => title));
  for (const { title } of first.failed)
    if (!still.has(title)) console.log(`failed beside other suites, passed alone: ${title}`);
}
const passed = first.passed.filter((file) => second === undefined || !files.includes(file)).length;
const failed = second?.failed.length ?? first.failed.length;
const tail = first.skipped.length > 0 ? `, ${first.skipped.length} skipped` : '';
console.log(`\n${passed + (second?.passed.length ?? 0)} passed, ${failed} failed${tail}`);
process.exitCode = failed === 0 ? 0 : 1;

async function runAlone(failing: readonly string[]): Promise<Results> {
  console.log('\nonce more, each alone:');
  const all = { passed: [] as string[], failed: [] as Results['failed'][number][] };
  for (const file of failing) {
    console.log(relative(process.cwd(), file));
    const results = await run([], [file]);
    all.passed.push(...results.passed);
    all.failed.push(...results.failed);
  }
  return { ...all, skipped: [] };
}

async function run(options: readonly string[], patterns: readonly string[]): Promise<Results> {
  const results = join(folder.path, 'results.json');
  const mocha = spawn('mocha', [...options, ...reporter, ...patterns], {
    stdio: 'inherit',
    env: { ...process.env, TEST_RESULTS: results },
  });
  const [code] = await once(mocha, 'exit').catch((error: Error) => {
    console.error(`mocha could not be started: ${error.message}; run "make test", which installs it`);
    process.exit(2);
  });
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } catch {
    console.error(`mocha ended with ${code} before it said what came out`);
    process.exit(code === 0 || code === null ? 2 : code);
  }
}
