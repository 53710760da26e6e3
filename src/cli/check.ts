import { Command, Option } from 'commander';
import { BadInput } from './bad-input.ts';
import { type Checked, type CheckProblem, checkText } from './check-text.ts';
import { inputText } from './input-text.ts';

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
    for (const file of files) results.push(checkText(file, await inputText(file)));
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
