/**
 * Runs every suite: the ones that start real servers beside the pure ones, two processes at a time, and ends with one plain
 * line, `N passed, N failed`. Arguments are patterns of test files; without one it is all of them.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const jobs = Math.max(2, Math.min(4, availableParallelism()));
const given = process.argv.slice(2);
const patterns = given.length > 0 ? given : ['test/**/*.test.ts'];
const options = ['--parallel', '--jobs', String(jobs), '--reporter', 'test/reporter.cjs'];
const mocha = spawn('mocha', [...options, ...patterns], { stdio: 'inherit' });
mocha.on('error', (error) => {
  console.error(`mocha could not be started: ${error.message}; run "make test", which installs it`);
  process.exit(2);
});
mocha.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 2)));
