import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestMask } from '../../src/worker/digest-key.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';

describe('the key of the digests', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = temporaryFolder('digest');
  });
  afterEach(() => folder.remove());

  it('lives on the volume, for its owner only, and is the same for everybody who asks', async () => {
    const dataDir = join(folder.path, 'data');
    const masks = await Promise.all([1, 2, 3].map(() => digestMask(dataDir)));
    const later = await digestMask(dataDir);
    const digests = new Set([...masks, later].map((mask) => mask(['data', 'a'], 'x')));
    assert.equal(digests.size, 1);
    assert.equal(statSync(join(dataDir, 'digest.key')).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(dataDir), ['digest.key']);
  });

  it('gives other digests at another place, for another value, and on another volume', async () => {
    const mask = await digestMask(join(folder.path, 'one'));
    const other = await digestMask(join(folder.path, 'two'));
    const digests = [
      mask(['a'], 'x'),
      mask(['b'], 'x'),
      mask(['a'], 'y'),
      mask(['a', 'b'], 'x'),
      other(['a'], 'x'),
    ];
    assert.equal(new Set(digests).size, digests.length);
  });

  it('is never replaced by another when the file is damaged', async () => {
    const path = join(folder.path, 'digest.key');
    writeFileSync(path, 'short');
    await assert.rejects(digestMask(folder.path), /digest\.key is not the key of this volume/);
    assert.equal(readFileSync(path, 'utf8'), 'short');
  });
});
