/** git for tests: with none of the machine's or the person's own configuration. */
import type { RunOptions, RunResult } from './run.ts';
import { run, runOk } from './run.ts';

export function gitEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** Runs git and returns its output; throws with git's words when it fails. */
export function git(args: readonly string[], options: RunOptions = {}): Promise<string> {
  return runOk('git', args, withEnvironment(options));
}

/** Runs git where a failure is an answer too. */
export function tryGit(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return run('git', args, withEnvironment(options));
}

function withEnvironment(options: RunOptions): RunOptions {
  return { ...options, env: { ...gitEnvironment(), ...options.env } };
}
