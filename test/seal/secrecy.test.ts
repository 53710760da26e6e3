/** What the sops program is given: nothing readable in arguments, environment or files, and nothing of ours left behind. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Concealed } from '../../src/core/sealed/index.ts';
import { createSealer } from '../../src/seal/index.ts';
import { part } from '../cluster/parts.ts';
import { liveSecret, planOn, refusals, type SealScene, sealScene, upsert } from './scene.ts';

const value = 'hunter2-secret';
const coded = Buffer.from(value).toString('base64');

describe('the sops program', function () {
  this.timeout(60_000);
  let scene: SealScene;
  let seen = '';
  before(() => {
    scene = sealScene();
    seen = join(scene.folder.path, 'seen');
    mkdirSync(seen);
  });
  after(() => scene.folder.remove());

  /** Notes what it was given, then runs the real one. */
  function watched(): string {
    const path = join(scene.folder.path, 'sops-watched');
    const script = [
      '#!/bin/sh',
      `note=${seen}/$$`,
      '/usr/bin/tr "\\0" "\\n" < /proc/$$/cmdline > $note.cmdline',
      '/usr/bin/tr "\\0" "\\n" < /proc/$$/environ > $note.environ',
      '/usr/bin/find "$HOME" -type f -exec /bin/cat {} + > $note.files 2>/dev/null',
      '/bin/ls -l /proc/$$/fd > $note.fds',
      `exec ${part('sops')} "$@"`,
    ];
    writeFileSync(path, `${script.join('\n')}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  it('is given no value and no key in arguments, environment or files, and a home of its own', async () => {
    process.env.AWS_SECRET_ACCESS_KEY = 'hunter2-ambient';
    process.env.SOPS_AGE_KEY = 'hunter2-ambient';
    try {
      const scratch = join(scene.folder.path, 'scratch');
      const sealer = createSealer({
        program: watched(),
        scratch,
        recipients: [scene.recipient],
        keys: scene.key,
      });
      const first = await planOn({}, [upsert(liveSecret('db', { password: value, other: 'x' }))], { sealer });
      assert.deepEqual(refusals(first), []);
      const [edit] = first.edits;
      const files = { [edit?.path ?? '']: Buffer.from(edit?.content ?? '').toString('utf8') };
      const again = await planOn(files, [upsert(liveSecret('db', { password: `${value}-2`, other: 'x' }))], {
        sealer,
      });
      assert.deepEqual(refusals(again), []);
      assert.equal(again.edits.length, 1);
      assert.deepEqual(readdirSync(scratch), [], 'scratch folders stay behind');
    } finally {
      delete process.env.AWS_SECRET_ACCESS_KEY;
      delete process.env.SOPS_AGE_KEY;
    }
    const notes = readdirSync(seen);
    assert.ok(notes.length >= 16, 'every run was watched');
    for (const name of notes) {
      const text = readFileSync(join(seen, name), 'utf8');
      for (const secret of [value, coded, scene.key.reveal(), 'AGE-SECRET-KEY', 'hunter2']) {
        assert.ok(!text.includes(secret), `${name} shows ${secret}`);
      }
      if (!name.endsWith('.environ')) continue;
      const names = text.split('\n').flatMap((line) => (line === '' ? [] : [line.split('=')[0] ?? '']));
      const expected = ['GOTRACEBACK', 'HOME', 'LC_ALL', 'PWD', 'SOPS_AGE_KEY_FILE', 'TMPDIR', 'TZ'];
      const others = names.filter(
        (one) => ![...expected, 'SOPS_DISABLE_VERSION_CHECK', 'XDG_CONFIG_HOME'].includes(one),
      );
      assert.deepEqual(others, []);
      assert.match(text, new RegExp(`^HOME=${scene.folder.path}/scratch/sops-`, 'm'));
    }
    assert.ok(
      notes.some(
        (name) => name.endsWith('.cmdline') && readFileSync(join(seen, name), 'utf8').includes('set'),
      ),
    );
  });

  it('is not shown to anybody by what fails', async () => {
    const failing = join(scene.folder.path, 'sops-failing');
    // A parser's complaint quotes what it read.
    writeFileSync(failing, '#!/bin/sh\n/bin/cat >&2\nexit 1\n');
    chmodSync(failing, 0o755);
    const scratch = join(scene.folder.path, 'failing');
    const sealer = createSealer({ program: failing, scratch, recipients: [scene.recipient] });
    const planned = await planOn({}, [upsert(liveSecret('db', { password: value }))], { sealer });
    assert.match(refusals(planned)[0] ?? '', /^SealingFailed/);
    assert.doesNotMatch(inspect(planned, { depth: 20 }), /hunter2|aHVudGVy/);
  });

  it('is ended when it takes too long, prints too much, or is asked by nobody any more', async () => {
    const slow = join(scene.folder.path, 'sops-slow');
    writeFileSync(slow, '#!/bin/sh\n/bin/sleep 60\n');
    const loud = join(scene.folder.path, 'sops-loud');
    writeFileSync(loud, '#!/bin/sh\nexec /bin/cat /dev/zero\n');
    for (const [program, words] of [
      [slow, /did not end in time/],
      [loud, /more .* than is read/],
    ] as const) {
      chmodSync(program, 0o755);
      const options = { scratch: join(scene.folder.path, 'bounded'), recipients: [], deadlineMs: 1_000 };
      const sealer = createSealer({ program, ...options, keys: scene.key });
      const opened = await sealer.open('x.yaml', Buffer.from('a: b\n'));
      assert.ok(opened.kind === 'failed');
      assert.match(opened.message, words);
    }
  });

  it('gets its key without a file that has a name', async () => {
    const { openKeyFile } = await import('../../src/seal/key-file.ts');
    const file = await openKeyFile(new Concealed('hunter2-key'));
    if (file === undefined) {
      console.log('      skipped: this machine has no nameless files in memory');
      return;
    }
    try {
      assert.match(readlinkSync(`/proc/self/fd/${file.fd}`), /^\/dev\/shm\/.* \(deleted\)$/);
      assert.ok(readdirSync('/dev/shm').every((name) => !name.includes('hunter2')));
    } finally {
      await file.close();
    }
  });
});
