import assert from 'node:assert/strict';
import fc from 'fast-check';
import { agePair, isRecipient, readAgeKeys } from '../../../src/core/sealed/index.ts';

describe('an age key', () => {
  const { key, recipient } = agePair(new Uint8Array(32).fill(7));

  it('gives the recipient that age itself derives', () => {
    // age-keygen -y of the same key.
    assert.equal(key.reveal(), 'AGE-SECRET-KEY-1QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSKMP32K');
    assert.equal(recipient, 'age1zwlyl6h27gzv0lfntr7fcqrjrzqazap8sy5zylkxwneh7llf0dksu37mwt');
  });

  it('is read from every *.agekey entry, past comments, and from no other', () => {
    const read = readAgeKeys({
      'a.agekey': `# created: today\n# public key: ${recipient}\n${key.reveal()}\n`,
      'note.txt': 'not a key',
    });
    assert.ok(read.ok);
    assert.deepEqual(read.recipients, [recipient]);
    assert.equal(read.keys?.reveal(), `${key.reveal()}\n`);
    assert.doesNotMatch(JSON.stringify(read), /SECRET-KEY/);
  });

  it('is refused without showing it when an entry holds none, two, or a damaged one', () => {
    const damaged = key.reveal().replace('QUR', 'QUQ');
    for (const text of ['', '# nothing', `${key.reveal()}\n${key.reveal()}`, damaged, recipient, 'hunter2']) {
      const read = readAgeKeys({ 'a.agekey': text });
      assert.ok(!read.ok, text);
      assert.match(read.message, /^the entry a\.agekey /);
      assert.doesNotMatch(read.message, /QUR|hunter2/);
    }
  });

  it('reads back, whatever its bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (random) => {
        const pair = agePair(random);
        const read = readAgeKeys({ 'k.agekey': pair.key.reveal() });
        assert.ok(read.ok);
        assert.deepEqual(read.recipients, [pair.recipient]);
        assert.ok(isRecipient(pair.recipient));
      }),
      { numRuns: 50 },
    );
  });
});
