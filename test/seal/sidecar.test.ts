/** The whole way with the real parts: live Secret, sidecar, sops, commit; and nothing readable anywhere on it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import { Concealed } from '../../src/core/sealed/index.ts';
import { part } from '../cluster/parts.ts';
import { commitTo, log, readFile, tip } from '../cluster/repository.ts';
import { run } from '../cluster/run.ts';
import { until } from '../cluster/wait.ts';
import { annotate, flush } from '../e2e/shop.ts';
import { mirror, ready, type Sidecar, startWorld, type World } from '../e2e/sidecar.ts';
import { clusterMissing } from '../kube/real-cluster.ts';
import { changedLines, openByHand, type SealScene, sealByHand, sealScene, setByHand } from './scene.ts';

const rules = [{ apiGroups: [''], resources: ['secrets'] }];
/** What must be seen nowhere; none of them is a word of anything else. */
const values = [
  'hunter2-first',
  'hunter2-second',
  'hunter2-third',
  'hunter2-open',
  'hunter2-own',
  'hunter2-gone',
  'hunter2-user',
  'hunter2-both',
  'hunter2-rotated',
];

describe('a live Secret and the running sidecar', function () {
  this.timeout(240_000);
  let world: World;
  let sidecar: Sidecar;
  let hand: SealScene;
  const bare: Record<string, string> = {};
  const logs: Sidecar[] = [];

  before(async function () {
    const missing = clusterMissing();
    if (missing !== undefined) {
      console.log(`      skipped: ${missing}`);
      this.skip();
    }
    hand = sealScene();
    world = await startWorld();
    await start();
  });
  after(async () => {
    await world?.stop();
    await hand?.folder.remove();
  });

  async function start(): Promise<void> {
    sidecar = await world.start(['--sops', part('sops'), '--log-level', 'debug']);
    logs.push(sidecar);
  }

  /** Applied by kubectl, so that its copy stands in an annotation. */
  async function apply(namespace: string, name: string, stringData: Record<string, string>): Promise<void> {
    const metadata = { name, namespace };
    await world.apply([{ apiVersion: 'v1', kind: 'Secret', metadata, stringData }]);
  }

  async function published(namespace: string, action: () => Promise<unknown>): Promise<number> {
    const dir = bare[namespace] ?? assert.fail(namespace);
    const before = (await log(dir, 'main')).length;
    await action();
    await flush(world, namespace);
    return (await log(dir, 'main')).length - before;
  }

  async function read(namespace: string, path: string): Promise<string> {
    return (await readFile(bare[namespace] ?? assert.fail(namespace), 'main', path)) ?? assert.fail(path);
  }

  async function target(namespace: string): Promise<JsonObject> {
    return JSON.parse(await world.kubectl('get', 'gittarget', namespace, '-n', namespace, '-o', 'json'));
  }

  async function condition(namespace: string, type: string): Promise<{ reason: string; message: string }> {
    const { status } = await target(namespace);
    const all = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
    const found = all.find((one) => isObject(one) && one.type === type);
    return isObject(found)
      ? { reason: String(found.reason), message: String(found.message) }
      : assert.fail(`no ${type} in ${JSON.stringify(all)}`);
  }

  describe('with a generated key', () => {
    let key: Concealed<string>;
    const path = 'apps/shop/keyed/secrets/db.sops.yaml';

    it('makes the key in the Secret, with what a person has to know', async () => {
      bare.keyed = await mirror(world, {
        name: 'keyed',
        rules,
        spec: {
          encryption: {
            secretRef: { name: 'sops-age' },
            age: { enabled: true, recipients: { generateWhenMissing: true } },
          },
        },
      });
      const secret = JSON.parse(
        await world.kubectl('get', 'secret', 'sops-age', '-n', 'keyed', '-o', 'json'),
      );
      const entries = Object.entries<string>(secret.data);
      assert.equal(entries.length, 1);
      const [name = '', text = ''] = entries[0] ?? [];
      assert.match(name, /^\d{4}-\d\d-\d\d\.agekey$/);
      key = new Concealed(Buffer.from(text, 'base64').toString('utf8'));
      assert.match(secret.metadata.annotations['configbutler.ai/age-recipient'], /^age1/);
      assert.equal(secret.metadata.annotations['configbutler.ai/backup-warning'], 'REMOVE_AFTER_BACKUP');
      const { reason, message } = await condition('keyed', 'EncryptionConfigured');
      assert.equal(reason, 'Succeeded');
      assert.match(message, /edited values only/);
    });

    it('seals a new Secret, without the copy that kubectl keeps', async () => {
      const commits = await published('keyed', () =>
        apply('keyed', 'db', { password: 'hunter2-first', user: 'shop', token: 'hunter2-third' }),
      );
      assert.equal(commits, 1);
      const text = await read('keyed', path);
      const opened = await openByHand({ key, folder: hand.folder }, text);
      assert.deepEqual(opened.data, {
        password: Buffer.from('hunter2-first').toString('base64'),
        token: Buffer.from('hunter2-third').toString('base64'),
        user: 'c2hvcA==',
      });
      assert.doesNotMatch(text, /last-applied/);
      assert.match(await read('keyed', 'apps/shop/.sops.yaml'), /age1/);
    });

    it('does not seal its own key into Git beside what it opens', async () => {
      const files = await run('git', ['ls-tree', '-r', '--name-only', 'main'], { cwd: bare.keyed ?? '' });
      assert.doesNotMatch(files.stdout, /sops-age/);
    });

    it('changes one line, the mac and the time for one edited value', async () => {
      const before = await read('keyed', path);
      const commits = await published('keyed', () =>
        world.kubectl(
          'patch',
          'secret',
          'db',
          '-n',
          'keyed',
          '-p',
          '{"stringData":{"password":"hunter2-second"}}',
        ),
      );
      assert.equal(commits, 1);
      const after = await read('keyed', path);
      assert.deepEqual(changedLines(before, after), ['password', 'mac']);
      const { data } = await openByHand({ key, folder: hand.folder }, after);
      assert.equal(isObject(data) && data.password, Buffer.from('hunter2-second').toString('base64'));
    });

    it('seals nothing again after a restart, also after one that lost its memory of the process', async () => {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        const before = await tip(bare.keyed ?? '', 'main');
        await sidecar.kill(signal);
        await start();
        await ready(world, 'keyed');
        await flush(world, 'keyed');
        assert.equal(await tip(bare.keyed ?? '', 'main'), before, signal);
      }
    });

    it('keeps a value that somebody changed in Git and nobody has applied yet', async () => {
      const byHand = { key, folder: hand.folder };
      const before = await read('keyed', path);
      await commitTo(bare.keyed ?? '', 'main', {
        [path]: await setByHand(byHand, before, '["data"]["token"]', 'aHVudGVyMi1naXQ='),
      });
      const commits = await published('keyed', () =>
        world.kubectl('patch', 'secret', 'db', '-n', 'keyed', '-p', '{"stringData":{"user":"hunter2-user"}}'),
      );
      assert.equal(commits, 1);
      const { data } = await openByHand(byHand, await read('keyed', path));
      assert.deepEqual(data, {
        password: Buffer.from('hunter2-second').toString('base64'),
        token: 'aHVudGVyMi1naXQ=',
        user: Buffer.from('hunter2-user').toString('base64'),
      });
    });

    it('keeps the recipients a document has when the spec gets others, and gives those to new ones', async () => {
      const recipients = { generateWhenMissing: true, publicKeys: [hand.recipient] };
      const spec = { encryption: { age: { recipients } } };
      await world.kubectl(
        'patch',
        'gittarget',
        'keyed',
        '-n',
        'keyed',
        '--type=merge',
        '-p',
        JSON.stringify({ spec }),
      );
      await until('two recipients', async () =>
        /2 recipients/.test((await condition('keyed', 'EncryptionConfigured')).message),
      );
      await published('keyed', () =>
        world.kubectl(
          'patch',
          'secret',
          'db',
          '-n',
          'keyed',
          '-p',
          '{"stringData":{"user":"hunter2-user2"}}',
        ),
      );
      assert.doesNotMatch(await read('keyed', path), new RegExp(hand.recipient));
      // The folder's own rules win over the spec until somebody changes them there.
      const rules = await read('keyed', 'apps/shop/.sops.yaml');
      await commitTo(bare.keyed ?? '', 'main', {
        'apps/shop/.sops.yaml': rules.replace(/(\n +)(age1\w+)/, `$1$2,$1${hand.recipient}`),
      });
      await published('keyed', () => apply('keyed', 'rotated', { value: 'hunter2-rotated' }));
      const fresh = await read('keyed', 'apps/shop/keyed/secrets/rotated.sops.yaml');
      assert.match(fresh, new RegExp(hand.recipient));
      assert.deepEqual((await openByHand(hand, fresh)).data, {
        value: Buffer.from('hunter2-rotated').toString('base64'),
      });
    });

    it('removes the sealed document with its Secret', async () => {
      await published('keyed', () => apply('keyed', 'gone', { value: 'hunter2-gone' }));
      assert.match(await read('keyed', 'apps/shop/keyed/secrets/gone.sops.yaml'), /ENC/);
      const commits = await published('keyed', () =>
        world.kubectl('delete', 'secret', 'gone', '-n', 'keyed'),
      );
      assert.equal(commits, 1);
      const files = await run('git', ['ls-tree', '-r', '--name-only', 'main'], { cwd: bare.keyed ?? '' });
      assert.doesNotMatch(files.stdout, /gone/);
    });
  });

  describe('with public recipients only', () => {
    const path = 'apps/shop/by-hand.enc.yaml';

    it('adopts what is sealed in Git as it is, and says that it cannot compare', async () => {
      const plain = `apiVersion: v1\nkind: Secret\nmetadata:\n  name: own\n  namespace: open\nstringData:\n  value: hunter2-own\n  note: stays\n`;
      await world.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'open' } }]);
      await apply('open', 'own', { value: 'hunter2-own', note: 'stays' });
      bare.open = await mirror(world, {
        name: 'open',
        rules,
        files: { [path]: await sealByHand(hand, plain) },
        spec: { encryption: { age: { enabled: true, recipients: { publicKeys: [hand.recipient] } } } },
      });
      await flush(world, 'open');
      assert.equal((await log(bare.open, 'main')).length, 1);
      const { reason, message } = await condition('open', 'EncryptionConfigured');
      assert.equal(reason, 'Succeeded');
      assert.match(message, /cannot be compared/);
    });

    it('replaces the document once for an edit, in its file and its form, and never without one', async () => {
      const commits = await published('open', () =>
        world.kubectl(
          'patch',
          'secret',
          'own',
          '-n',
          'open',
          '-p',
          '{"stringData":{"value":"hunter2-open"}}',
        ),
      );
      assert.equal(commits, 1);
      const opened = await openByHand(hand, await read('open', path));
      assert.deepEqual(opened.stringData, { value: 'hunter2-open', note: 'stays' });
      assert.equal(opened.data, undefined);
      const before = await tip(bare.open ?? '', 'main');
      await world.kubectl('annotate', 'gittarget', 'open', '-n', 'open', 'test/touched=1');
      await sidecar.kill('SIGTERM');
      await start();
      await ready(world, 'open');
      await flush(world, 'open');
      assert.equal(await tip(bare.open ?? '', 'main'), before);
    });

    it('refuses to guess when live and Git both changed unread, and writes the live object when it is asked to', async () => {
      const before = await read('open', path);
      await commitTo(bare.open ?? '', 'main', {
        [path]: await setByHand(hand, before, '["stringData"]["note"]', 'from Git'),
      });
      const commits = await published('open', () =>
        world.kubectl(
          'patch',
          'secret',
          'own',
          '-n',
          'open',
          '-p',
          '{"stringData":{"value":"hunter2-both"}}',
        ),
      );
      assert.equal(commits, 0);
      assert.match((await condition('open', 'Ready')).message, /DocumentChangedSince Secret\/open\/own/);
      await annotate(world, 'gittarget', 'open', 'requestedAt');
      await until('the live object is written', async () => {
        const { stringData } = await openByHand(hand, await read('open', path));
        return isObject(stringData) && stringData.value === 'hunter2-both' && stringData.note === 'stays';
      });
    });
  });

  describe('without encryption', () => {
    it('leaves Secrets out', async () => {
      bare.off = await mirror(world, {
        name: 'off',
        rules: [{ apiGroups: [''], resources: ['*'] }],
      });
      const commits = await published('off', () => apply('off', 'db', { password: 'hunter2-first' }));
      assert.equal(commits <= 1, true);
      const files = await run('git', ['ls-tree', '-r', '--name-only', 'main'], { cwd: bare.off });
      assert.doesNotMatch(files.stdout, /secret/);
      assert.equal((await condition('off', 'EncryptionConfigured')).reason, 'NotRequired');
    });
  });

  describe('with a Secret that is wrong', () => {
    it('says what is wrong with its Secret, and starts when that is mended', async () => {
      await mirror(
        world,
        {
          name: 'mended',
          rules,
          spec: {
            encryption: {
              secretRef: { name: 'sops-age' },
              age: { enabled: true, recipients: { extractFromSecret: true } },
            },
          },
        },
        { ready: false },
      );
      await until(
        'MissingSecret',
        async () =>
          (await condition('mended', 'EncryptionConfigured').catch(() => undefined))?.reason ===
          'MissingSecret',
      );
      const age = (text: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'sops-age', namespace: 'mended' },
        stringData: { 'a.agekey': text },
      });
      await world.apply([age('no key')]);
      await until(
        'InvalidConfig',
        async () => (await condition('mended', 'EncryptionConfigured')).reason === 'InvalidConfig',
        {
          timeoutMs: 30_000,
        },
      );
      await world.apply([age(hand.key.reveal())]);
      await ready(world, 'mended', 40_000);
    });
  });

  describe('afterwards', () => {
    it('shows no value anywhere: volume, every object of every repository, logs, metrics, status, events, processes', async () => {
      const forms = values.flatMap((value) => [
        value,
        Buffer.from(value).toString('base64').replace(/=+$/, ''),
      ]);
      const places = new Map<string, string>();
      const keep = (name: string, text: string) => places.set(name, text);
      for (const file of filesBelow(world.folder.path)) keep(file, readFileSync(file).toString('latin1'));
      for (const dir of [...Object.values(bare), ...repositoriesBelow(join(world.folder.path, 'data'))]) {
        const all = await run('git', ['cat-file', '--batch-all-objects', '--batch', '--unordered'], {
          cwd: dir,
        });
        assert.equal(all.code, 0, all.stderr);
        assert.ok(all.stdout.length > 100, dir);
        keep(`objects of ${dir}`, all.stdout);
      }
      keep('metrics', await (await fetch(`http://127.0.0.1:${sidecar.metricsPort}/metrics`)).text());
      keep('status', await world.kubectl('get', 'gittargets,watchrules,gitbranches', '-A', '-o', 'json'));
      keep('events', await world.kubectl('get', 'events', '-A', '-o', 'json'));
      for (const entry of ['cmdline', 'environ']) {
        keep(entry, readFileSync(`/proc/${sidecar.pid}/${entry}`, 'latin1'));
      }
      for (const [index, one] of logs.entries()) keep(`log ${index}`, one.log());
      assert.ok(places.size > 20);
      for (const [name, text] of places) {
        for (const form of forms) assert.ok(!text.includes(form), `${form} stands in ${name}`);
        assert.doesNotMatch(text, /AGE-SECRET-KEY/, name);
      }
    });
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

function repositoriesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('/HEAD'))
    .map((name) => join(folder, name, '..'));
}
