import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/core/json.ts';
import { decide, edits, read, result } from './scene.ts';

const secret = (rest: string) =>
  read(`apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n${rest}`);
const code = (text: string) => Buffer.from(text, 'utf8').toString('base64');
const live = (data: Record<string, string>): JsonObject => ({
  ...secret('type: Opaque'),
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, code(text)])),
});

describe('intent: secrets', () => {
  it('take stringData and data of the same meaning for equal', () => {
    const git = secret(`stringData: {user: admin, password: pässword}\ndata: {token: ${code('t')}}`);
    const now = live({ user: 'admin', password: 'pässword', token: 't' });
    assert.equal(decide({ live: now, git }).kind, 'none');
    assert.equal(decide({ live: now, git, mirror: true }).kind, 'none');
    assert.equal(decide({ live: now, git, handled: live({ user: 'other' }) }).kind, 'none');
  });

  it('take base64 with line breaks for equal', () => {
    const text = 'a long value that somebody folded over lines';
    const folded = `${code(text).slice(0, 20)}\n${code(text).slice(20)}\n`;
    assert.equal(
      decide({ live: live({ k: text }), git: { ...secret(''), data: { k: folded } } }).kind,
      'none',
    );
  });

  it('set a changed value in the form the file has it', () => {
    const git = secret(`stringData: {user: admin, password: old}\ndata: {token: ${code('t')}}`);
    const handled = live({ user: 'admin', password: 'old', token: 't' });
    const now = live({ user: 'admin', password: 'new', token: 'u' });
    assert.deepEqual(edits({ handled, live: now, git }), {
      'stringData.password': ['old', 'new'],
      'data.token': [code('t'), code('u')],
    });
    assert.deepEqual(edits({ live: now, git, mirror: true }), edits({ handled, live: now, git }));
  });

  it('change the plain text that hides base64, and leave what is hidden', () => {
    const git = secret(`data: {password: ${code('older')}}\nstringData: {password: old}`);
    const now = live({ password: 'new' });
    for (const scene of [
      { live: now, git, handled: live({ password: 'old' }) },
      { live: now, git, mirror: true },
    ]) {
      assert.deepEqual(edits(scene), { 'stringData.password': ['old', 'new'] });
    }
    assert.deepEqual(result({ live: live({}), git, handled: live({ password: 'old' }) }), secret(''));
  });

  it('keep a value that is no text as base64', () => {
    const now = { ...live({}), data: { password: Buffer.from([0xff, 0xfe]).toString('base64') } };
    const desired = result({
      live: now,
      git: secret('stringData: {password: old}'),
      handled: live({ password: 'old' }),
    });
    assert.deepEqual(desired, { ...secret(''), data: now.data });
  });

  it('add a key in the form the file uses', () => {
    const now = live({ a: 'x', b: 'y' });
    assert.deepEqual(
      result({ live: now, handled: live({ a: 'x' }), git: secret('stringData: {a: x}') }),
      secret('stringData: {a: x, b: y}'),
    );
    assert.deepEqual(
      result({ live: now, handled: live({ a: 'x' }), git: secret(`data: {a: ${code('x')}}`) }),
      secret(`data: {a: ${code('x')}, b: ${code('y')}}`),
    );
  });

  it('remove a key where it stands', () => {
    const git = secret(`stringData: {a: x, b: y}\ndata: {c: ${code('z')}}`);
    const handled = live({ a: 'x', b: 'y', c: 'z' });
    assert.deepEqual(edits({ handled, live: live({ a: 'x' }), git }), {
      'stringData.b': ['y', undefined],
      data: [{ c: code('z') }, undefined],
    });
  });

  it('report what Git changed meanwhile, in either form', () => {
    const handled = live({ a: 'x' });
    const intent = decide({ handled, live: live({ a: 'live' }), git: secret('stringData: {a: git}') });
    assert.ok(intent.kind === 'edit');
    assert.deepEqual(
      intent.overwritten.map(({ where }) => where),
      ['stringData.a'],
    );
    const alone = decide({ handled, live: live({ a: 'live' }), git: secret('stringData: {a: x}') });
    assert.ok(alone.kind === 'edit');
    assert.deepEqual(alone.overwritten, []);
  });

  it('say no value in a notice', () => {
    const intent = decide({
      handled: live({ a: 'x' }),
      live: live({ a: 'topsecret' }),
      git: secret('stringData: {a: git}'),
    });
    const text = JSON.stringify(intent.notices);
    assert.ok(!text.includes('topsecret') && !text.includes(code('topsecret')));
  });
});
