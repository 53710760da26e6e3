/** Sealing for `plan`: the sops program, recipients by flag or GitTarget, and the private key a person names in the environment. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRecipient, type Sealer } from '../core/sealed/index.ts';
import { createSealer, findProgram } from '../seal/index.ts';
import { BadInput } from './bad-input.ts';
import { builtPart } from './built-part.ts';
import { callerPath } from './caller-path.ts';

export interface SealingFlags {
  readonly sops?: string;
  readonly sopsAgeRecipient: readonly string[];
}

/** Gives a sealer to `work`. Its scratch folder is gone afterwards. Throws BadInput when a recipient or the program is none. */
export async function withSealer<Result>(
  flags: SealingFlags,
  recipients: readonly string[],
  work: (sealer: Sealer) => Promise<Result>,
): Promise<Result> {
  const wrong = flags.sopsAgeRecipient.find((one) => !isRecipient(one));
  if (wrong !== undefined) throw new BadInput('--sops-age-recipient: not an age recipient (age1...)');
  const program = await sopsProgram(flags.sops);
  const key = process.env.SOPS_AGE_KEY_FILE;
  const scratch = await mkdtemp(join(tmpdir(), 'gitops-reverser-'));
  try {
    const sealer = createSealer({
      program,
      scratch,
      recipients: flags.sopsAgeRecipient.length > 0 ? flags.sopsAgeRecipient : recipients,
      keyFile: key === undefined || key === '' ? undefined : callerPath(key),
    });
    return await work(sealer);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function sopsProgram(given: string | undefined): Promise<string | undefined> {
  if (given === undefined) return (await findProgram('sops', process.env.PATH)) ?? (await builtPart('sops'));
  const program = await findProgram(given.includes('/') ? callerPath(given) : given, process.env.PATH);
  if (program === undefined) throw new BadInput(`--sops ${given}: there is no such program`);
  return program;
}
