/** The `Sealer` of core/sealed, carried out by the sops program. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isObject, type Path, parseJson, printJson } from '../core/json.ts';
import { Concealed, type Opened, type Sealed, type Sealer, type SealStep } from '../core/sealed/index.ts';
import { type Environment, sopsEnvironment } from './environment.ts';
import { openKeyFile } from './key-file.ts';
import { runSops, type SopsFailure, type SopsResult } from './run-sops.ts';

export interface SealerOptions {
  /** Absolute path of sops; undefined when there is none, and then everything is refused. */
  readonly program: string | undefined;
  /** A private folder; made when it is not there. */
  readonly scratch: string;
  readonly recipients: readonly string[];
  /** Private age keys, one a line, or the file that holds them. Neither: documents are sealed and never opened. */
  readonly keys?: Concealed<string> | undefined;
  readonly keyFile?: string | undefined;
  /** For one run of sops. */
  readonly deadlineMs?: number;
}

const defaultDeadlineMs = 20_000;
const yaml = ['--input-type', 'yaml'];

export function createSealer(options: SealerOptions): Sealer {
  const hasKey = options.keys !== undefined || options.keyFile !== undefined;
  return {
    recipients: options.recipients,
    async open(path, bytes) {
      if (!hasKey) return { kind: 'unavailable', message: 'no private age key is at hand' };
      const result = await inScratch(options, (run) =>
        run(
          ['decrypt', ...yaml, '--output-type', 'json', '--filename-override', 'sealed.yaml'],
          bytes,
          'key',
        ),
      );
      return openedFrom(result, path);
    },
    async seal({ path, text, config, encryptedRegex }) {
      const scope = encryptedRegex === undefined ? [] : ['--encrypted-regex', encryptedRegex];
      const result = await inScratch(options, async (run, folder) => {
        const file = join(folder, config.path);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(file, config.text, { mode: 0o600 });
        const types = [...yaml, '--output-type', 'yaml'];
        const place = ['--filename-override', join(folder, path)];
        return run(['--config', file, 'encrypt', ...types, ...scope, ...place], text.reveal());
      });
      return sealedFrom(result, path, config.path);
    },
    async change({ path, bytes, steps }) {
      if (!hasKey) return failed(path, 'no-key');
      const result = await inScratch(options, (run, folder) =>
        takeSteps(run, join(folder, 'sealed.yaml'), bytes, steps.reveal()),
      );
      return sealedFrom(result, path, '.sops.yaml');
    },
  };
}

type Run = (args: readonly string[], input: string | Uint8Array, key?: 'key') => Promise<SopsResult>;

/** One folder per call; it holds ciphertext and rules, and is gone afterwards. */
async function inScratch(
  options: SealerOptions,
  work: (run: Run, folder: string) => Promise<SopsResult>,
): Promise<SopsResult> {
  const { program } = options;
  if (program === undefined) return { kind: 'failed', why: 'not-started' };
  await mkdir(options.scratch, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(options.scratch, 'sops-'));
  try {
    const run: Run = (args, input, key) => runOnce(options, program, folder, args, input, key !== undefined);
    return await work(run, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOnce(
  { keys, keyFile, deadlineMs = defaultDeadlineMs }: SealerOptions,
  program: string,
  folder: string,
  args: readonly string[],
  input: string | Uint8Array,
  withKey: boolean,
): Promise<SopsResult> {
  const handle = withKey && keys !== undefined ? await openKeyFile(keys) : undefined;
  try {
    const environment = sopsEnvironment(folder, withKey ? keyEnvironment(keys, keyFile, handle?.fd) : {});
    const rest = { cwd: folder, environment, input, keyFile: handle?.fd, deadlineMs };
    return await runSops({ program, args, ...rest });
  } finally {
    await handle?.close();
  }
}

function keyEnvironment(
  keys: Concealed<string> | undefined,
  keyFile: string | undefined,
  descriptor: number | undefined,
): Environment {
  if (descriptor !== undefined) return { SOPS_AGE_KEY_FILE: '/dev/fd/3' };
  if (keys !== undefined) return { SOPS_AGE_KEY: keys.reveal() };
  return keyFile === undefined ? {} : { SOPS_AGE_KEY_FILE: keyFile };
}

async function takeSteps(
  run: Run,
  file: string,
  bytes: Uint8Array,
  steps: readonly SealStep[],
): Promise<SopsResult> {
  await writeFile(file, bytes, { mode: 0o600 });
  for (const { path, value } of steps) {
    const place = placeOf(path);
    const result =
      value === undefined
        ? await run(['unset', file, place], '', 'key')
        : await run(['set', '--value-stdin', file, place], printJson(value), 'key');
    if (result.kind === 'failed') return result;
  }
  return { kind: 'done', stdout: await readFile(file) };
}

/** `["data"]["password"]`, as sops reads places. */
function placeOf(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `["${step}"]`)).join('');
}

function openedFrom(result: SopsResult, path: string): Opened {
  if (result.kind === 'failed') {
    const message = sentence(result.why, path);
    if (result.why === 'no-key') return { kind: 'unavailable', message };
    const reason = result.why === 'damaged' ? 'EncryptedDocument' : 'SealingFailed';
    return { kind: 'failed', reason, message };
  }
  try {
    const value = parseJson(result.stdout.toString('utf8'));
    if (isObject(value)) return { kind: 'opened', document: new Concealed(value) };
  } catch {
    // What could not be read stays out of the message.
  }
  const message = `what sops opened in ${path} is no document`;
  return { kind: 'failed', reason: 'EncryptedDocument', message };
}

function sealedFrom(result: SopsResult, path: string, config: string): Sealed {
  if (result.kind === 'done') return { ok: true, bytes: new Uint8Array(result.stdout) };
  if (result.why === 'no-rule') {
    const message = `no creation rule of ${config} matches ${path}`;
    return { ok: false, reason: 'SealingRuleMissing', message };
  }
  return failed(path, result.why);
}

function failed(path: string, why: SopsFailure): Sealed {
  return { ok: false, reason: 'SealingFailed', message: sentence(why, path) };
}

function sentence(why: SopsFailure, path: string): string {
  switch (why) {
    case 'not-started':
      return 'the sops binary cannot be run; install sops 3.13 or name it with --sops';
    case 'deadline':
      return `sops did not end in time for ${path}`;
    case 'too-much-output':
      return `sops gave more for ${path} than is read`;
    case 'no-key':
      return `no key at hand opens ${path}`;
    case 'damaged':
      return `the checksum or a value of ${path} is damaged; restore the file from an earlier commit`;
    case 'bad-recipient':
      return `sops cannot read a recipient of the rule for ${path}`;
    case 'no-rule':
    case 'other':
      return `sops failed for ${path}; run it by hand on that file to see why`;
  }
}
