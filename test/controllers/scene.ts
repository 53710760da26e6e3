/** The real API server with our controllers, and a git server with the repository `shop`: what most suites here begin with. */
import type { Context } from 'mocha';
import { type GitServer, type GitServerOptions, startGitServer } from '../cluster/git-server.ts';
import { clusterMissing } from '../kube/real-cluster.ts';
import { type Running, type RunningOptions, startRunning } from './running.ts';

export interface Scene {
  readonly git: GitServer;
  readonly running: Running;
}

export interface SceneOptions {
  readonly users?: GitServerOptions['users'];
  /** Of the repository. */
  readonly files?: Readonly<Record<string, string>>;
  readonly running?: RunningOptions;
}

/** Skips the suite, with a line that says why, where no API server can be started. */
export async function startScene(
  suite: Context,
  { users, files, running }: SceneOptions = {},
): Promise<Scene> {
  const missing = clusterMissing();
  if (missing !== undefined) {
    console.log(`      skipped: ${missing}`);
    suite.skip();
  }
  const git = await startGitServer(users === undefined ? {} : { users });
  await git.createRepository('shop', files === undefined ? {} : { files });
  return { git, running: await startRunning(running ?? { flags: { insecureAllowGitHttp: true } }) };
}

/** Safe after a start that was skipped or broke. */
export async function stopScene({ git, running }: Partial<Scene>): Promise<void> {
  await running?.stop();
  await git?.stop();
}
