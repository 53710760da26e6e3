/** The floor of everything that ends on the remote: raw `git fast-import` and `git push`, and not one process more. */
import { commitChain, joinStream } from '../../src/git/import-stream.ts';
import { temporaryFolder } from '../cluster/folder.ts';
import { git } from '../cluster/git.ts';
import type { GitServer } from '../cluster/git-server.ts';
import { watchRef } from './remote-ref.ts';

export interface FloorGit {
  /** Commits, each a list of files, then one push. Resolves with the time until the remote has them, from `since` on. */
  publish(commits: readonly Commit[], since: number): Promise<number>;
  /** Prepared bytes for `publish`, so that making them costs no measured time. */
  prepare(commits: readonly Commit[]): Prepared;
  publishPrepared(prepared: Prepared, since: number): Promise<number>;
  stop(): Promise<void>;
}

export interface Commit {
  readonly files: readonly { readonly path: string; readonly content: string | Uint8Array }[];
}

interface Prepared {
  readonly stream: Buffer;
}

const person = { name: 'Floor', email: 'floor@example.com', date: new Date('2026-01-02T03:04:05Z') };

/** A remote of the same server, with these files in it, and a bare clone of it. */
export async function floorGit(server: GitServer, name: string, first: Commit): Promise<FloorGit> {
  const folder = temporaryFolder('bench-floor');
  const bare = await server.createRepository(name);
  await git(['fast-import', '--quiet'], { cwd: bare, stdin: stream(null, [first]) });
  const clone = `${folder.path}/clone.git`;
  await git(['clone', '--quiet', '--bare', server.url(name), clone]);
  await git(['config', 'gc.auto', '0'], { cwd: clone });
  const remote = watchRef(bare, 'main');

  function prepare(commits: readonly Commit[]): Prepared {
    return { stream: stream(remote.tip(), commits) };
  }

  async function publishPrepared({ stream: stdin }: Prepared, since: number): Promise<number> {
    const before = remote.tip();
    await git(['fast-import', '--quiet'], { cwd: clone, stdin });
    const pushing = git(['push', '--quiet', server.url(name), 'main'], { cwd: clone });
    const [{ at }] = await Promise.all([remote.moved(before, 60_000), pushing]);
    return at - since;
  }

  return {
    prepare,
    publishPrepared,
    publish: (commits, since) => publishPrepared(prepare(commits), since),
    async stop() {
      remote.close();
      await folder.remove();
    },
  };
}

function stream(base: string | null, commits: readonly Commit[]): Buffer {
  const specs = commits.map(({ files }, index) => ({
    message: `Edit ${index}`,
    author: person,
    committer: person,
    files,
  }));
  return joinStream(commitChain('refs/heads/main', base, specs));
}
