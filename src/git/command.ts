/** Runs git in one repository. */
import type { Environment } from './environment.ts';
import { type Children, type Running, type RunRequest, type RunResult, run, start } from './run.ts';

export interface Git {
  /** The bare repository. */
  readonly dir: string;
  readonly environment: Environment;
  readonly children: Children;
}

export interface GitOptions {
  readonly input?: string | Uint8Array;
  /** Laid over the repository's environment. */
  readonly environment?: Environment;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly maxOutputBytes?: number;
}

/** Local work has no reason to take longer; a remote operation brings its own deadline. */
const localDeadlineMs = 120_000;

export function git(repository: Git, args: readonly string[], options: GitOptions = {}): Promise<RunResult> {
  const { input } = options;
  return run(
    { ...requestOf(repository, args, options), ...(input === undefined ? {} : { input }) },
    repository.children,
  );
}

/** Starts git and leaves its input open. */
export function startGit(repository: Git, args: readonly string[]): Running {
  return start(requestOf(repository, args, {}), repository.children);
}

function requestOf(repository: Git, args: readonly string[], options: GitOptions): RunRequest {
  return {
    args,
    cwd: repository.dir,
    environment: { ...repository.environment, ...options.environment },
    deadlineMs: options.deadlineMs ?? localDeadlineMs,
    signal: options.signal,
    ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
  };
}

export function succeeded(result: RunResult): boolean {
  return result.ended === 'exit' && result.code === 0;
}
