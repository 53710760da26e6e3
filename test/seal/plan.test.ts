import assert from 'node:assert/strict';
import { join } from 'node:path';
import fc from 'fast-check';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import { sanitize } from '../../src/core/sanitize/index.ts';
import { createKustomize } from '../../src/render/kustomize.ts';
import { createSealer } from '../../src/seal/index.ts';
import { caseFolder, filesOf, objectsOf } from '../cases/corpus.ts';
import { part } from '../cluster/parts.ts';
import {
  applied,
  changedLines,
  liveSecret,
  objectOf,
  openByHand,
  planOn,
  refusals,
  remove,
  type SealScene,
  sealByHand,
  sealScene,
  type Texts,
  upsert,
} from './scene.ts';

const path = 'apps/shop/shop/secrets/db.sops.yaml';
const written = (values: Readonly<Record<string, string>>) =>
  `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\nstringData:\n${Object.entries(
    values,
  )
    .map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`)
    .join('')}`;

describe('a plan with sealing', function () {
  this.timeout(60_000);
  let scene: SealScene;
  before(() => {
    scene = sealScene();
  });
  after(() => scene.folder.remove());

  async function caseFiles(
    context: Mocha.Context,
    id: string,
  ): Promise<{ files: Texts; live: JsonObject[] }> {
    const folder = await caseFolder(id);
    if (folder === undefined) {
      console.log(`    skipped ${id}: ../shared/cases is not there`);
      return context.skip();
    }
    const before = await filesOf(join(folder, 'before'));
    const files = Object.fromEntries(
      [...before].map(([at, bytes]) => [
        at,
        Buffer.from(bytes).toString('utf8').replace('AGE-RECIPIENT-OF-THE-TEST', scene.recipient),
      ]),
    );
    return { files, live: await objectsOf(join(folder, 'live.yaml')) };
  }

  describe('B19, a new Secret made by kubectl apply', () => {
    it('is one sealed document without its annotation, by the rule of the repository', async function () {
      const { files, live } = await caseFiles(this, 'B19');
      const [secret] = live;
      assert.ok(secret);
      const other = createSealer({
        program: undefined,
        scratch: scene.folder.path,
        recipients: ['age1other'],
      });
      const planned = await planOn(files, [upsert(secret, { applierKnown: true })], {
        sealer: { ...scene.withKey, recipients: other.recipients },
      });
      assert.deepEqual(refusals(planned), []);
      assert.equal(planned.edits.length, 1);
      const [edit] = planned.edits;
      const text = Buffer.from(edit?.content ?? '').toString('utf8');
      assert.doesNotMatch(text, /made-up-pa55|bWFkZS11cC1wYTU1|c2hvcA==|last-applied/);
      assert.match(text, new RegExp(scene.recipient));
      const opened = await openByHand(scene, text);
      assert.deepEqual(opened.data, { password: 'bWFkZS11cC1wYTU1', user: 'c2hvcA==' });
      assert.deepEqual(opened.metadata, { name: 'shop-db', namespace: 'shop' });
      assert.doesNotMatch(JSON.stringify(planned.outcomes) + JSON.stringify(edit?.fields), /made-up|bWFk/);
    });

    it('is refused without a usable recipient, and when no rule matches', async function () {
      const { files, live } = await caseFiles(this, 'B19');
      const changes = live.map((one) => upsert(one, { applierKnown: true }));
      const { '.sops.yaml': rules = '', ...bare } = files;
      const sealer = { ...scene.withoutKey, recipients: [] };
      assert.match(refusals(await planOn(bare, changes, { sealer }))[0] ?? '', /^EncryptionNotConfigured/);
      const elsewhere = { ...files, '.sops.yaml': rules.replace('apps/', 'prod/') };
      const refused = await planOn(elsewhere, changes, { sealer: scene.withKey });
      assert.match(refusals(refused)[0] ?? '', /^SealingRuleMissing/);
      assert.match(
        refused.refused[0]?.message ?? '',
        /no creation rule of \.sops\.yaml matches apps\/shop\//,
      );
      const broken = { ...files, '.sops.yaml': rules.replace(scene.recipient, 'age1nonsense') };
      assert.match(refusals(await planOn(broken, changes, { sealer }))[0] ?? '', /^SealingFailed/);
    });
  });

  describe('B20, one value of three changes', () => {
    async function sealed(context: Mocha.Context) {
      const { files, live } = await caseFiles(context, 'B20');
      const { 'apps/shop/secret.plain.yaml': plain = '', ...rest } = files;
      const text = await sealByHand(scene, plain.replace(/^#.*\n/, ''));
      const [secret] = live;
      assert.ok(secret);
      return { files: { ...rest, 'apps/shop/secret.yaml': text } as Texts, text, secret };
    }

    it('changes its line, the mac and lastmodified', async function () {
      const { files, text, secret } = await sealed(this);
      const planned = await planOn(files, [upsert(secret, { applierKnown: true })], {
        sealer: scene.withKey,
      });
      assert.deepEqual(refusals(planned), []);
      assert.deepEqual(
        planned.edits.map((edit) => edit.path),
        ['apps/shop/secret.yaml'],
      );
      assert.deepEqual(
        planned.edits[0]?.fields.map(({ field }) => field),
        ['stringData.password'],
      );
      const after = applied(files, planned)['apps/shop/secret.yaml'] ?? '';
      assert.deepEqual(changedLines(text, after), ['password', 'mac']);
      const opened = await openByHand(scene, after);
      assert.deepEqual(opened.stringData, {
        user: 'shop',
        password: 'second-made-up',
        endpoint: 'https://bank.example.test',
      });
    });

    it('keeps a style of its own, which sops would print over', async function () {
      const { files, text, secret } = await sealed(this);
      const own = text
        .replace('kind: Secret', '# by hand\nkind:   "Secret"  # quoted')
        .replace(/metadata:\n.*\n.*\n/, 'metadata: {name: shop-api,   namespace: shop}\n\n');
      const planned = await planOn({ ...files, 'apps/shop/secret.yaml': own }, [upsert(secret)], {
        sealer: scene.withKey,
      });
      assert.deepEqual(refusals(planned), []);
      const after = applied(files, planned)['apps/shop/secret.yaml'] ?? '';
      assert.deepEqual(changedLines(own, after), ['password', 'mac']);
      assert.equal(plainText(await openByHand(scene, after), 'password'), 'second-made-up');
    });

    it('plans nothing in a second pass', async function () {
      const { files, secret } = await sealed(this);
      const change = upsert(secret, { applierKnown: true });
      const once = applied(files, await planOn(files, [change], { sealer: scene.withKey }));
      const again = await planOn(once, [change], { sealer: scene.withKey });
      assert.deepEqual([again.edits, again.refused], [[], []]);
      const handled = upsert(secret, { applierKnown: true, handled: sanitize(secret) });
      assert.deepEqual((await planOn(once, [handled], { sealer: scene.withoutKey })).edits, []);
    });

    it('without the key replaces the document once for a real edit, and only then', async function () {
      const { files, secret } = await sealed(this);
      const blob = Buffer.from(files['apps/shop/secret.yaml'] ?? '').toString('base64');
      const options = { sealer: scene.withoutKey, adoptsUnread: true };
      const first = await planOn(files, [upsert(secret, { applierKnown: true })], options);
      assert.deepEqual([first.edits, first.refused], [[], []], 'what was never handled is adopted as it is');
      const planned = await planOn(
        files,
        [upsert(secret, { applierKnown: true, documentBlob: blob })],
        options,
      );
      assert.deepEqual(refusals(planned), []);
      assert.deepEqual(
        planned.edits[0]?.fields.map(({ field }) => field),
        ['stringData'],
      );
      const after = applied(files, planned)['apps/shop/secret.yaml'] ?? '';
      const opened = await openByHand(scene, after);
      assert.equal(plainText(opened, 'password'), 'second-made-up');
      assert.equal(opened.data, undefined, 'the file keeps stringData');
      assert.match(after, new RegExp(scene.recipient));
      assert.match(after, /encrypted_regex: \^\(data\|stringData\)\$/);
    });

    it('without the key is refused where nobody remembers it, and where Git changed as well', async function () {
      const { files, secret } = await sealed(this);
      const change = upsert(secret, { applierKnown: true });
      assert.deepEqual(refusals(await planOn(files, [change], { sealer: scene.withoutKey })), [
        'EncryptedDocument apps/shop/secret.yaml',
      ]);
      const moved = upsert(secret, { applierKnown: true, documentBlob: 'another' });
      const options = { sealer: scene.withoutKey, adoptsUnread: true };
      assert.deepEqual(refusals(await planOn(files, [moved], options)), [
        'DocumentChangedSince apps/shop/secret.yaml',
      ]);
      const asked = upsert(secret, { applierKnown: true, asked: true });
      assert.equal((await planOn(files, [asked], options)).edits.length, 1);
    });
  });

  it('leaves to the applier what the applier made, also without the key', async () => {
    const text = await sealByHand(scene, written({ a: 'one' }));
    const files = { [path]: text };
    const live = liveSecret(
      'db',
      { a: 'two' },
      {
        metadata: {
          name: 'db',
          namespace: 'shop',
          managedFields: [
            {
              manager: 'kustomize-controller',
              operation: 'Apply',
              apiVersion: 'v1',
              fieldsType: 'FieldsV1',
              fieldsV1: { 'f:data': { 'f:a': {} } },
            },
          ],
        },
      },
    );
    const known = upsert(live, { applierKnown: true, documentBlob: 'another' });
    const planned = await planOn(files, [known], { sealer: scene.withoutKey, adoptsUnread: true });
    assert.deepEqual([planned.edits, planned.refused], [[], []]);
  });

  it('adds and takes out keys, and leaves the other ciphertexts alone', async () => {
    const text = await sealByHand(scene, written({ a: 'one', b: 'two', c: 'three' }));
    const live = liveSecret('db', { a: 'one', c: 'three', d: 'four' });
    const planned = await planOn({ [path]: text }, [upsert(live)], { sealer: scene.withKey });
    assert.deepEqual(refusals(planned), []);
    const after = applied({}, planned)[path] ?? '';
    assert.deepEqual((await openByHand(scene, after)).stringData, { a: 'one', c: 'three', d: 'four' });
    for (const key of ['a', 'c']) {
      const line = text.split('\n').find((one) => one.trim().startsWith(`${key}: ENC[`)) ?? assert.fail(key);
      assert.ok(after.includes(line), key);
    }
  });

  it('keeps which fields of a file are sealed, and adds nothing readable to it', async () => {
    const regex = ['--encrypted-regex', '^(password|token)$'];
    const text = await sealByHand(scene, written({ user: 'shop', password: 'one' }), regex);
    assert.match(text, /user: "?shop/);
    const edit = async (values: Record<string, string>) =>
      await planOn({ [path]: text }, [upsert(liveSecret('db', values))], { sealer: scene.withKey });
    const fine = await edit({ user: 'shop', password: 'two', token: 'new' });
    assert.deepEqual(refusals(fine), []);
    assert.deepEqual((await openByHand(scene, applied({}, fine)[path] ?? '')).stringData, {
      user: 'shop',
      password: 'two',
      token: 'new',
    });
    for (const values of [
      { user: 'other', password: 'one' },
      { user: 'shop', password: 'one', note: 'readable' },
    ]) {
      const planned = await edit(values);
      assert.deepEqual(refusals(planned), [`VerificationFailed ${path}`]);
      assert.match(planned.refused[0]?.message ?? '', /leaves stringData\.(user|note) readable/);
    }
  });

  it('refuses a rule that leaves a value readable or hides the name', async () => {
    const live = liveSecret('db', { password: 'hunter2-x', user: 'shop' });
    for (const [scope, words] of [
      ['encrypted_regex: ^password$', /leaves data\.user readable/],
      ['unencrypted_suffix: _open', /does not show (apiVersion|kind|metadata)/],
    ] as const) {
      const rules = `creation_rules:\n  - age: ${scene.recipient}\n    ${scope}\n`;
      const planned = await planOn({ '.sops.yaml': rules }, [upsert(live)], { sealer: scene.withKey });
      assert.deepEqual(refusals(planned), [`SealingRuleMissing ${path}`]);
      assert.match(planned.refused[0]?.message ?? '', words);
      assert.doesNotMatch(JSON.stringify(planned), /hunter2/);
    }
  });

  it('never puts two Secrets, or a Secret and anything else, into one file', async () => {
    const all = { byType: { 'v1/secrets': 'all.sops.yaml', 'v1/configmaps': 'all.sops.yaml' } };
    const map: JsonObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'm', namespace: 'shop' },
      data: { a: 'b' },
    };
    const [one, two] = [liveSecret('a', { k: 'v1' }), liveSecret('b', { k: 'v2' })];
    const options = { sealer: scene.withKey, placement: all };
    const both = await planOn({}, [upsert(one), upsert(two)], options);
    assert.deepEqual(refusals(both), ['SensitiveAppend apps/shop/all.sops.yaml']);
    assert.equal(both.edits.length, 1);
    const mixed = await planOn({}, [upsert(one), upsert(map)], options);
    assert.deepEqual(refusals(mixed), ['SensitiveAppend apps/shop/all.sops.yaml']);
    const there = await planOn(applied({}, both), [upsert(two)], options);
    assert.deepEqual(refusals(there), ['SensitiveAppend apps/shop/all.sops.yaml']);
  });

  it('leaves a Secret in plain text as it is, and says who can mend it', async () => {
    const planned = await planOn(
      { [path]: written({ a: 'one' }) },
      [upsert(liveSecret('db', { a: 'two' }))],
      {
        sealer: scene.withKey,
      },
    );
    assert.deepEqual(refusals(planned), [`SensitiveInPlainText ${path}`]);
    assert.equal(planned.refused[0]?.actor, 'repository-author');
  });

  it('refuses a live Secret that holds ciphertext instead of its content', async () => {
    const text = await sealByHand(scene, written({ a: 'one' }));
    const applied = /a: (ENC\[.*\])/.exec(text)?.[1] ?? assert.fail();
    const planned = await planOn({ [path]: text }, [upsert(liveSecret('db', { a: applied }))], {
      sealer: scene.withKey,
    });
    assert.deepEqual(refusals(planned), [`EncryptedDocument ${path}`]);
  });

  it('refuses a damaged file instead of replacing it', async () => {
    const text = await sealByHand(scene, written({ a: 'one', b: 'two' }));
    const damaged = text.replace(/a: ENC\[AES256_GCM,data:..../, (found) => `${found.slice(0, -4)}AAAA`);
    const planned = await planOn({ [path]: damaged }, [upsert(liveSecret('db', { a: 'x', b: 'y' }))], {
      sealer: scene.withKey,
    });
    assert.deepEqual(refusals(planned), [`EncryptedDocument ${path}`]);
  });

  it('removes a sealed document with its object, unless Git changed it since', async () => {
    const text = await sealByHand(scene, written({ a: 'one' }));
    const live = liveSecret('db', { a: 'one' });
    const files = { [path]: text };
    const gone = await planOn(files, [remove(live, { handled: sanitize(live) })], { sealer: scene.withKey });
    assert.deepEqual(
      gone.edits.map(({ action }) => action),
      ['delete'],
    );
    const other = liveSecret('db', { a: 'handled before' });
    const kept = await planOn(files, [remove(other, { handled: sanitize(other) })], {
      sealer: scene.withKey,
    });
    assert.deepEqual(refusals(kept), [`DocumentChangedSince ${path}`]);
    const two = { [path]: `${text}---\n${written({ b: 'x' }).replace('name: db', 'name: c')}` };
    const shared = await planOn(two, [remove(live)], { sealer: scene.withKey });
    assert.deepEqual(refusals(shared), [`NotEditable ${path}`]);
  });

  it('edits a sealed file of another name and another kind where it is', async () => {
    const map = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: shop}\ndata:\n  a: one\n  b: two\n`;
    const text = await sealByHand(scene, map);
    const live: JsonObject = { ...objectOf(map), data: { a: 'one', b: 'three' } };
    const files = { 'apps/shop/deep/x.enc.yaml': text };
    const planned = await planOn(files, [upsert(live)], { sealer: scene.withKey });
    assert.deepEqual(refusals(planned), []);
    assert.deepEqual(
      planned.edits.map((edit) => edit.path),
      ['apps/shop/deep/x.enc.yaml'],
    );
    const after = applied(files, planned)['apps/shop/deep/x.enc.yaml'] ?? '';
    assert.deepEqual((await openByHand(scene, after)).data, { a: 'one', b: 'three' });
  });

  it('seals all of another sensitive kind but its identity', async () => {
    const token: JsonObject = {
      apiVersion: 'vault.example/v1',
      kind: 'Token',
      metadata: { name: 't', namespace: 'shop' },
      spec: { value: 'hunter2-token', uses: 3, list: ['hunter2-item', true] },
      note: 'hunter2-note',
    };
    const planned = await planOn({}, [upsert(token)], {
      sealer: scene.withKey,
      isSensitive: ({ kind }) => kind === 'Token',
      resourceOf: () => ({ resource: 'tokens', namespaced: true }),
    });
    assert.deepEqual(refusals(planned), []);
    const [edit] = planned.edits;
    assert.equal(edit?.path, 'apps/shop/shop/vault.example/tokens/t.sops.yaml');
    const text = Buffer.from(edit?.content ?? '').toString('utf8');
    assert.doesNotMatch(text, /hunter2/);
    assert.deepEqual(await openByHand(scene, text), token);
  });

  it('starts a new folder with rules for its recipients, unless the repository has its own', async () => {
    const change = upsert(liveSecret('db', { a: 'one' }));
    const fresh = await planOn({}, [change], { sealer: scene.withKey, bootstrap: true });
    const rules = fresh.edits.find((edit) => edit.path === 'apps/shop/.sops.yaml');
    assert.match(Buffer.from(rules?.content ?? '').toString('utf8'), new RegExp(scene.recipient));
    const again = await planOn(applied({}, fresh), [change, upsert(liveSecret('two', { b: 'x' }))], {
      sealer: scene.withKey,
    });
    assert.deepEqual(refusals(again), []);
    assert.equal(again.edits.length, 1);
    const own = {
      '.sops.yaml': `creation_rules:\n  - age: ${scene.recipient}\n    encrypted_regex: ^data$\n`,
    };
    const governed = await planOn(own, [change], { sealer: scene.withKey, bootstrap: true });
    assert.equal(
      governed.edits.some((edit) => edit.path.endsWith('.sops.yaml') && edit.path !== path),
      false,
    );
  });

  describe('in a folder that kustomize builds', () => {
    const kustomize = { render: createKustomize({ program: part('kustomize') }) };
    const root = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: shop\n';

    it('edits a sealed document where it stands, and lists a new one', async () => {
      const files = {
        'apps/shop/kustomization.yaml': `${root}resources:\n  - db.sops.yaml\n`,
        'apps/shop/db.sops.yaml': await sealByHand(scene, written({ a: 'one', b: 'two' })),
      };
      const options = { sealer: scene.withKey, kustomize };
      const edited = await planOn(files, [upsert(liveSecret('db', { a: 'one', b: 'three' }))], options);
      assert.deepEqual(refusals(edited), []);
      assert.deepEqual(
        edited.edits.map((edit) => edit.path),
        ['apps/shop/db.sops.yaml'],
      );
      const after = applied(files, edited)['apps/shop/db.sops.yaml'] ?? '';
      assert.deepEqual(changedLines(files['apps/shop/db.sops.yaml'], after), ['b', 'mac']);
      const created = await planOn(files, [upsert(liveSecret('new', { k: 'hunter2-new' }))], options);
      assert.deepEqual(refusals(created), []);
      const texts = applied(files, created);
      assert.match(texts['apps/shop/kustomization.yaml'] ?? '', /- new\.sops\.yaml/);
      const opened = await openByHand(scene, texts['apps/shop/new.sops.yaml'] ?? '');
      assert.deepEqual(opened.data, { k: Buffer.from('hunter2-new').toString('base64') });
      const gone = await planOn(texts, [remove(liveSecret('new', {}))], options);
      assert.deepEqual(refusals(gone), []);
      assert.deepEqual(
        applied(texts, gone)['apps/shop/kustomization.yaml'],
        files['apps/shop/kustomization.yaml'],
      );
    });

    it('never writes a value of a Secret into a patch, a generator or a plain document', async () => {
      const base = {
        'base/kustomization.yaml': 'resources: [db.yaml]\n',
        'base/db.yaml': written({ a: 'one' }),
      };
      const cases: Texts[] = [
        { ...base, 'apps/shop/kustomization.yaml': `${root}resources: [../../base]\n` },
        {
          'apps/shop/kustomization.yaml': `${root}generatorOptions: {disableNameSuffixHash: true}\nsecretGenerator:\n  - name: db\n    literals: [a=one]\n`,
        },
        {
          'apps/shop/kustomization.yaml': `${root}resources: [db.yaml]\n`,
          'apps/shop/db.yaml': written({ a: 'one' }),
        },
      ];
      for (const files of cases) {
        const change = upsert(liveSecret('db', { a: 'hunter2-patch' }));
        const planned = await planOn(files, [change], { sealer: scene.withKey, kustomize });
        assert.equal(planned.edits.length, 0, JSON.stringify(applied({}, planned)));
        assert.equal(planned.refused.length, 1);
        assert.doesNotMatch(JSON.stringify(planned), /hunter2|aHVudGVy/);
      }
    });
  });

  it('names the program when it is not there', async () => {
    const sealer = createSealer({
      program: undefined,
      scratch: scene.folder.path,
      recipients: [scene.recipient],
    });
    const planned = await planOn({}, [upsert(liveSecret('db', { a: 'one' }))], { sealer });
    assert.deepEqual(refusals(planned), [`SealingFailed ${path}`]);
    assert.match(planned.refused[0]?.message ?? '', /sops binary/);
  });

  it('holds for any Secret: nothing readable, the same after opening, one value changes one line', async function () {
    this.timeout(180_000);
    const key = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/).filter((text) => !/^\.|__proto__/.test(text));
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }).map((text) => Buffer.from(text.toWellFormed(), 'utf8')),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom(
          '',
          'true',
          '1',
          'null',
          '~',
          '---\n',
          'a: b',
          '# x',
          ['$', '{A}'].join(''),
          '2001-01-01',
          '\t',
          'x\n\n',
        )
        .map((text) => Buffer.from(text)),
    );
    const values = fc.dictionary(key, value, { minKeys: 1, maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(values, value, async (content, fresh) => {
        const live = liveSecret('db', content);
        const planned = await planOn({}, [upsert(live)], { sealer: scene.withKey });
        assert.deepEqual(refusals(planned), []);
        const files = applied({}, planned);
        const text = files[path] ?? assert.fail('not written');
        assert.deepEqual((await openByHand(scene, text)).data, live.data);
        for (const one of Object.values(content)) {
          if (one.length >= 6)
            assert.ok(!text.includes(one.toString('base64')) && !text.includes(one.toString('utf8')));
        }
        const [first = ''] = Object.keys(content);
        const edited = liveSecret('db', { ...content, [first]: fresh });
        const second = await planOn(files, [upsert(edited)], { sealer: scene.withKey });
        assert.deepEqual(refusals(second), []);
        const after = applied(files, second)[path] ?? '';
        const same = fresh.equals(content[first] ?? Buffer.alloc(0));
        assert.equal(changedLines(text, after).length, same ? 0 : 2);
        assert.deepEqual((await openByHand(scene, after)).data, edited.data);
      }),
      { numRuns: 25 },
    );
  });

  it('takes a Secret as large as the server does', async () => {
    const live = liveSecret('db', { big: Buffer.alloc(1024 * 1024 - 64, 'x1y2'), small: 'one' });
    const planned = await planOn({}, [upsert(live)], { sealer: scene.withKey });
    assert.deepEqual(refusals(planned), []);
    const files = applied({}, planned);
    const edited: JsonObject = {
      ...live,
      data: { ...(isObject(live.data) ? live.data : {}), small: 'dHdv' },
    };
    const second = await planOn(files, [upsert(edited)], { sealer: scene.withKey });
    assert.deepEqual(refusals(second), []);
    assert.equal(changedLines(files[path] ?? '', applied(files, second)[path] ?? '').length, 2);
  });
});

function plainText({ stringData }: JsonObject, key: string) {
  return isObject(stringData) ? stringData[key] : undefined;
}
