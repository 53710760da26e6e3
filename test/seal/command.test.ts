/** `plan` with sealing, as a person calls it. */
import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../src/core/json.ts';
import { caseFolder } from '../cases/corpus.ts';
import { part } from '../cluster/parts.ts';
import { type RunResult, run } from '../cluster/run.ts';
import { changedLines, openByHand, type SealScene, sealByHand, sealScene } from './scene.ts';

const script = join(import.meta.dirname, '../cases/run-plan.ts');

describe('the plan command with sealing', function () {
  this.timeout(60_000);
  let scene: SealScene;
  let root = '';
  beforeEach(async () => {
    scene = sealScene();
    root = join(scene.folder.path, 'work');
    await mkdir(root);
    await mkdir(join(scene.folder.path, 'tmp'));
    await writeFile(join(scene.folder.path, 'key.txt'), scene.key.reveal(), { mode: 0o600 });
  });
  afterEach(() => scene.folder.remove());

  async function caseOf(context: Mocha.Context, id: string): Promise<string> {
    const folder = await caseFolder(id);
    if (folder === undefined) {
      console.log(`    skipped ${id}: ../shared/cases is not there`);
      return context.skip();
    }
    await cp(join(folder, 'before'), root, { recursive: true });
    return join(folder, 'live.yaml');
  }

  /** From the folder above `work`; sops is named, and nothing else of the machine is there. */
  function plan(
    args: readonly string[],
    { key = false, sops = part('sops'), env = {} } = {},
  ): Promise<RunResult> {
    const given = sops === '' ? [] : ['--sops', sops];
    return run(process.execPath, [script, 'work/apps/shop', '--repo-root', 'work', ...given, ...args], {
      cwd: tmpdir(),
      env: {
        PATH: '/nowhere',
        TMPDIR: join(scene.folder.path, 'tmp'),
        INIT_CWD: scene.folder.path,
        GITOPS_REVERSER_CACHE: '/nowhere',
        ...(key ? { SOPS_AGE_KEY_FILE: 'key.txt' } : {}),
        ...env,
      },
    });
  }

  it('B19: seals by the rule of the repository and writes it, and shows nothing', async function () {
    const live = await caseOf(this, 'B19');
    const rules = join(root, '.sops.yaml');
    await writeFile(
      rules,
      (await readFile(rules, 'utf8')).replace('AGE-RECIPIENT-OF-THE-TEST', scene.recipient),
    );
    const { code, stdout, stderr } = await plan(['--live', live, '--write']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.doesNotMatch(stdout, /made-up-pa55|bWFkZS11cC1wYTU1|last-applied/);
    const text = await readFile(join(root, 'apps/shop/shop/secrets/shop-db.sops.yaml'), 'utf8');
    assert.deepEqual((await openByHand(scene, text)).data, {
      password: 'bWFkZS11cC1wYTU1',
      user: 'c2hvcA==',
    });
    const again = await plan(['--live', live], { key: true });
    assert.deepEqual([again.code, again.stdout, again.stderr], [0, '', '']);
    assert.deepEqual(await readdir(join(scene.folder.path, 'tmp')), [], 'scratch folders stay behind');
  });

  it('B19: refuses with exit 3 without a rule or recipient, and takes one by flag or GitTarget', async function () {
    const live = await caseOf(this, 'B19');
    await rm(join(root, '.sops.yaml'));
    const refused = await plan(['--live', live]);
    assert.equal(refused.code, 3);
    assert.match(
      refused.stderr,
      /^refused EncryptionNotConfigured Secret\/shop\/shop-db .*\(platform-operator\)/,
    );
    assert.equal((await plan(['--live', live, '--sops-age-recipient', scene.recipient])).code, 0);
    const target = {
      apiVersion: 'configbutler.ai/v1alpha3',
      kind: 'GitTarget',
      spec: { encryption: { age: { enabled: true, recipients: { publicKeys: [scene.recipient] } } } },
    };
    await writeFile(join(scene.folder.path, 'target.json'), JSON.stringify(target));
    assert.equal((await plan(['--live', live, '--target', 'target.json'])).code, 0);
    const wrong = await plan(['--live', live, '--sops-age-recipient', 'AGE-SECRET-KEY-1HUNTER2']);
    assert.equal(wrong.code, 2);
    assert.doesNotMatch(wrong.stderr, /HUNTER2/);
  });

  it('B19: names the program that is missing', async function () {
    const live = await caseOf(this, 'B19');
    await rm(join(root, '.sops.yaml'));
    const flags = ['--live', live, '--sops-age-recipient', scene.recipient];
    const { code, stderr } = await plan(flags, { sops: '' });
    assert.equal(code, 3);
    assert.match(stderr, /^refused SealingFailed .* the sops binary cannot be run/);
    assert.equal((await plan(flags, { sops: '/nowhere/sops' })).code, 2);
  });

  it('B20: changes the one line, also a second time nothing, and refuses to guess without the key', async function () {
    const live = await caseOf(this, 'B20');
    const plainFile = join(root, 'apps/shop/secret.plain.yaml');
    const plain = (await readFile(plainFile, 'utf8')).replace(/^#.*\n/, '');
    await rm(plainFile);
    const file = join(root, 'apps/shop/secret.yaml');
    const before = await sealByHand(scene, plain);
    await writeFile(file, before);
    const blind = await plan(['--live', live]);
    assert.equal(blind.code, 3);
    assert.match(blind.stderr, /^refused EncryptedDocument .*cannot be compared/);
    const { code, stdout, stderr } = await plan(['--live', live, '--write'], { key: true });
    assert.deepEqual([code, stderr], [0, '']);
    assert.doesNotMatch(stdout, /first-made-up|second-made-up/);
    const after = await readFile(file, 'utf8');
    assert.deepEqual(changedLines(before, after), ['password', 'mac']);
    const { stringData } = await openByHand(scene, after);
    assert.equal(isObject(stringData) && stringData.password, 'second-made-up');
    const again = await plan(['--live', live], { key: true });
    assert.deepEqual([again.code, again.stdout], [0, '']);
  });
});
