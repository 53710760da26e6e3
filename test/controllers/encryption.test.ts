/** How a GitTarget seals: what is read of its Secret, when, and what stays when nothing can be read. */
import assert from 'node:assert/strict';
import { gitTarget as gitTargetSchema } from '../../src/api/git-target.ts';
import { EncryptionReads } from '../../src/controllers/encryption.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { agePair } from '../../src/core/sealed/index.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { gitTarget } from './samples.ts';

const one = agePair(new Uint8Array(32).fill(1));
const two = agePair(new Uint8Array(32).fill(2));

function targetOf(encryption: object | undefined, annotations = {}) {
  const target = gitTarget('live', 'a', encryption === undefined ? {} : { encryption });
  const metadata = { ...target.metadata, uid: 'u1', annotations };
  return gitTargetSchema.parse({ ...target, metadata });
}

function secretOf(keys: Record<string, string>): JsonObject {
  const data = Object.entries(keys).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'age', namespace: 'shop' },
    data: Object.fromEntries(data),
  };
}

type Answer = Awaited<ReturnType<KubeClient['get']>>;

/** Answers for one Secret; counts how often it was read and keeps what was written. */
function reading(first: Answer, write: 'ok' | 'forbidden' = 'ok') {
  const state = { answer: first, reads: 0, written: [] as JsonObject[], now: 0 };
  const put = async (_ref: unknown, object: JsonObject) => {
    if (write === 'forbidden') return { kind: 'forbidden', message: 'no' };
    state.written.push(object);
    return { kind: 'ok', object };
  };
  const client = {
    async get() {
      state.reads += 1;
      return state.answer;
    },
    create: put,
    replace: put,
  };
  const clock = {
    now: () => state.now,
    date: () => new Date('2026-01-02T03:04:05Z'),
    after: () => () => undefined,
  };
  // Only these calls are made.
  const options = { client: client as unknown as KubeClient, clock, isSensitive: () => false };
  return { state, reads: new EncryptionReads(options) };
}

const found = (keys: Record<string, string>): Answer => ({ kind: 'ok', object: secretOf(keys) }) as Answer;
const missing = { kind: 'not-found', message: 'no such Secret' } as Answer;
const silent = { kind: 'unreachable', message: 'no answer' } as unknown as Answer;
const secretRef = { name: 'age' };
const extract = { secretRef, age: { enabled: true, recipients: { extractFromSecret: true } } };

describe('the encryption of a GitTarget', () => {
  it('is off unless age is enabled, and then nothing is read', async () => {
    const { state, reads } = reading(missing);
    for (const encryption of [undefined, { secretRef }, { secretRef, age: { enabled: false } }]) {
      const target = targetOf(encryption);
      assert.equal(await reads.refresh(target), false);
      assert.deepEqual(reads.state(target), { kind: 'off' });
    }
    assert.equal(state.reads, 0);
  });

  it('takes public keys without a Secret, and says that nothing can be compared', async () => {
    const { reads } = reading(missing);
    const target = targetOf({ age: { enabled: true, recipients: { publicKeys: [one.recipient] } } });
    assert.equal(reads.state(target).kind, 'unknown');
    assert.equal(await reads.refresh(target), true);
    const known = reads.state(target);
    assert.ok(known.kind === 'ok');
    assert.deepEqual(known.sealing, { recipients: [one.recipient], keys: undefined });
    assert.match(known.message, /cannot be compared/);
  });

  it('takes every key of the Secret, and shows none', async () => {
    const { reads } = reading(
      found({ 'a.agekey': one.key.reveal(), 'b.agekey': two.key.reveal(), other: 'x' }),
    );
    const target = targetOf(extract);
    await reads.refresh(target);
    const known = reads.state(target);
    assert.ok(known.kind === 'ok');
    assert.deepEqual(known.sealing.recipients, [one.recipient, two.recipient]);
    assert.equal(known.sealing.keys?.reveal(), `${one.key.reveal()}\n${two.key.reveal()}\n`);
    assert.doesNotMatch(JSON.stringify(known), /SECRET-KEY/);
  });

  it('opens with the Secret and seals for public keys only, when it is not to extract', async () => {
    const { reads } = reading(found({ 'a.agekey': one.key.reveal() }));
    const target = targetOf({
      secretRef,
      age: { enabled: true, recipients: { publicKeys: [two.recipient] } },
    });
    await reads.refresh(target);
    const known = reads.state(target);
    assert.ok(known.kind === 'ok' && known.sealing.keys !== undefined);
    assert.deepEqual(known.sealing.recipients, [two.recipient]);
  });

  for (const [what, answer, reason] of [
    ['is missing', missing, 'MissingSecret'],
    ['holds no key', found({ note: 'x' }), 'MissingSecret'],
    ['may not be read', { kind: 'forbidden', message: 'no' } as Answer, 'MissingSecret'],
    ['holds something else', found({ 'a.agekey': 'hunter2' }), 'InvalidConfig'],
  ] as const) {
    it(`says so when the Secret ${what}`, async () => {
      const { reads } = reading(answer);
      const target = targetOf(extract);
      await reads.refresh(target);
      const known = reads.state(target);
      assert.ok(known.kind === 'unusable');
      assert.equal(known.reason, reason);
      assert.doesNotMatch(known.message, /hunter2/);
    });
  }

  it('makes a key once, with what a person has to know, beside what the Secret holds', async () => {
    const { state, reads } = reading(found({ note: 'kept' }));
    const target = targetOf({ secretRef, age: { enabled: true, recipients: { generateWhenMissing: true } } });
    await reads.refresh(target);
    const known = reads.state(target);
    assert.ok(known.kind === 'ok');
    const [written] = state.written;
    assert.ok(written);
    assert.deepEqual(Object.keys(written.data ?? {}).sort(), ['2026-01-02.agekey', 'note']);
    assert.deepEqual((written.metadata as JsonObject).annotations, {
      'configbutler.ai/age-recipient': known.sealing.recipients[0] ?? '',
      'configbutler.ai/backup-warning': 'REMOVE_AFTER_BACKUP',
    });
    state.answer = { kind: 'ok', object: written } as Answer;
    state.now = 1_000_000;
    assert.equal(await reads.refresh(target), false, 'the same key is no change');
    assert.equal(state.written.length, 1);
  });

  it('says so when the key may not be stored', async () => {
    const { reads } = reading(missing, 'forbidden');
    const target = targetOf({ secretRef, age: { enabled: true, recipients: { generateWhenMissing: true } } });
    await reads.refresh(target);
    const known = reads.state(target);
    assert.ok(known.kind === 'unusable' && known.reason === 'SecretCreateDisabled');
  });

  it('keeps what it knows while the API server is silent, and while a new request is read', async () => {
    const { state, reads } = reading(found({ 'a.agekey': one.key.reveal() }));
    const target = targetOf(extract);
    await reads.refresh(target);
    const known = reads.state(target);
    assert.equal(await reads.refresh(target), false);
    assert.equal(state.reads, 1, 'nothing is read before its time');
    state.answer = silent;
    const asked = targetOf(extract, { 'reconcile.configbutler.ai/requestedAt': 'now' });
    assert.equal(reads.state(asked), known);
    assert.equal(await reads.refresh(asked), false);
    assert.equal(reads.state(asked), known);
    assert.equal(state.reads, 2);
    state.now = 10_000;
    state.answer = found({ 'a.agekey': two.key.reveal() });
    assert.equal(await reads.refresh(asked), true, 'silence is asked again soon');
    const now = reads.state(asked);
    assert.ok(now.kind === 'ok');
    assert.deepEqual(now.sealing.recipients, [two.recipient]);
  });
});
