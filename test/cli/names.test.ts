/** The program under the names of the plugins that kubectl, flux and argocd look for, called by these programs. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { version } from '../../src/cli/version.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { type PartName, part } from '../cluster/parts.ts';
import { run } from '../cluster/run.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

describe('the names', function () {
  this.timeout(120_000);
  let folder: Folder;
  let env: NodeJS.ProcessEnv;

  before(() => {
    folder = temporaryFolder('names');
    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    for (const tool of ['kubectl', 'flux', 'argocd']) symlinkSync(main, join(bin, `${tool}-reverser`));
    env = {
      ...process.env,
      PATH: [bin, process.env.PATH].join(delimiter),
      HOME: folder.path,
      KUBECONFIG: join(folder.path, 'none'),
      // The folder where flux looks.
      FLUXCD_PLUGINS: bin,
    };
  });
  after(() => folder.remove());

  for (const name of ['kubectl', 'flux', 'argocd'] as const) {
    it(`${name} reverser is the same program, and says its name in its help`, async function () {
      const tool = built(name);
      if (tool === undefined) {
        console.log(`      skipped: ${name} is not built`);
        return this.skip();
      }
      const told = await run(tool, ['reverser', 'version'], { env });
      assert.deepEqual([told.code, told.stdout], [0, `${version}\n`], told.stderr);
      const help = await run(tool, ['reverser', 'status', '--help'], { env });
      assert.match(help.stdout, new RegExp(`^Usage: ${name} reverser status \\[options\\] \\[target\\]`));
    });
  }

  it('kubectl lists it, and hands on its exit code', async () => {
    const { stdout } = await run(part('kubectl'), ['plugin', 'list'], { env });
    assert.match(stdout, /\/kubectl-reverser$/m);
    assert.equal((await run(part('kubectl'), ['reverser', 'status', '--no-such-flag'], { env })).code, 2);
  });

  it('is called gitops-reverser under any other name', async () => {
    const { stdout } = await run('node', [main, 'flush', '--help'], { env });
    assert.match(stdout, /^Usage: gitops-reverser flush /);
  });
});

function built(name: PartName): string | undefined {
  try {
    return part(name);
  } catch {
    return undefined;
  }
}
