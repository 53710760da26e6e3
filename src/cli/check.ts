/** `check FILE…`: judges manifests of our kinds without a cluster, and names the new spelling of an old one. */
import { readFile, stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { BadInput, reasonOf } from './bad-input.ts';
import { callerPath } from './caller-path.ts';
import { type Checked, type CheckProblem, checkText } from './check-text.ts';

const maxInputBytes = 64 * 1024 * 1024;
const exitCode = { fine: 0, badInput: 2 } as const;

/** The command for `main.ts`. It sets `process.exitCode`: 0 when nothing is wrong, 2 when something is. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check manifests of our kinds offline, old spellings included')
    .argument('<file...>', 'YAML or JSON files, - for standard input')
    .addOption(new Option('--output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .showHelpAfterError(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCode.fine : exitCode.badInput))
    .action(async (files: string[], { output }: { output: 'text' | 'json' }) => {
      process.exitCode = await runCheck(files, output);
    });
}

async function runCheck(files: readonly string[], output: 'text' | 'json'): Promise<number> {
  const results: Checked[] = [];
  try {
    // One after the other: standard input can be read once.
    for (const file of files) results.push(checkText(file, await textOf(file)));
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    process.stderr.write(`check: ${error.message}\n`);
    return exitCode.badInput;
  }
  const problems = results.flatMap((result) => result.problems);
  const skipped = results.flatMap((result) => result.skipped);
  for (const { file, line, kind, name } of skipped) {
    process.stderr.write(`${file}:${line} ${kind}/${name}: not one of our kinds, skipped\n`);
  }
  if (output === 'json') process.stdout.write(`${JSON.stringify({ problems, skipped }, null, 2)}\n`);
  else for (const problem of problems) process.stdout.write(`${problemLine(problem)}\n`);
  return problems.length === 0 ? exitCode.fine : exitCode.badInput;
}

/** `FILE:LINE KIND/NAME: field: problem; fix`, without the parts that are not known. */
export function problemLine({ file, line, kind, name, field, problem, fix }: CheckProblem): string {
  const object = kind === '' ? '' : ` ${kind}/${name}`;
  const where = field === '' ? '' : ` ${field}:`;
  const remedy = fix === undefined ? '' : `; ${fix}`;
  return `${file}:${line}${object}:${where} ${problem}${remedy}`;
}

async function textOf(file: string): Promise<string> {
  const bytes = await bytesOf(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new BadInput(`${file}: not UTF-8 text`, { cause: error });
  }
}

async function bytesOf(file: string): Promise<Uint8Array> {
  if (file === '-') return standardInput();
  try {
    const path = callerPath(file);
    const { size } = await stat(path);
    if (size > maxInputBytes) throw new BadInput(`${file}: larger than ${maxInputBytes} bytes`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(`${file}: ${reasonOf(error)}`, { cause: error });
  }
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxInputBytes) throw new BadInput(`-: larger than ${maxInputBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
