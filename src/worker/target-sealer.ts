/** The sealers of targets: one sops, one scratch folder on the private volume, every sealing counted. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sealed, Sealer } from '../core/sealed/index.ts';
import { createSealer, findProgram } from '../seal/index.ts';
import type { MirrorCounts } from './counts.ts';
import type { Sealing } from './mirror-spec.ts';

export interface SealersOptions {
  readonly dataDir: string;
  /** Path of the sops program, or its name in PATH. */
  readonly sops: string;
  readonly counts: MirrorCounts;
}

export type SealerFor = (sealing: Sealing) => Sealer;

/** Looks for the program, and clears what a killed process may have left: ciphertext and rules. */
export async function prepareSealers({ dataDir, sops, counts }: SealersOptions): Promise<SealerFor> {
  const scratch = join(dataDir, 'seal');
  await rm(scratch, { recursive: true, force: true });
  const program = await findProgram(sops, process.env.PATH);
  const counted = async (sealing: Promise<Sealed>): Promise<Sealed> => {
    const sealed = await sealing;
    counts.sealed(sealed.ok ? 'encrypted' : 'failed');
    return sealed;
  };
  return (sealing) => {
    const sealer = createSealer({ ...sealing, program, scratch });
    return {
      recipients: sealer.recipients,
      open: (path, bytes) => sealer.open(path, bytes),
      seal: (request) => counted(sealer.seal(request)),
      change: (request) => counted(sealer.change(request)),
    };
  };
}
