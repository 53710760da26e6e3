/** Runs git in one repository. */
import type { Environment } from './environment.ts';
import { type Children, type RunResult, run } from './run.ts';

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
  return run(
    {
      args,
      cwd: repository.dir,
      environment: { ...repository.environment, ...options.environment },
      deadlineMs: options.deadlineMs ?? localDeadlineMs,
      signal: options.signal,
      ...(options.input === undefined ? {} : { input: options.input }),
      ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
    },
    repository.children,
  );
}

export function succeeded(result: RunResult): boolean {
  return result.ended === 'exit' && result.code === 0;
}
