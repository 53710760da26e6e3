/**
 * `scan FOLDER`: what adopting a repository, or a part of it, would come to, folder by folder. Needs no cluster and no remote.
 */
import { Command, Option } from 'commander';
import { type ScanReport, scan } from '../core/scan/index.ts';
import { BadInput } from './bad-input.ts';
import { callerPath } from './caller-path.ts';
import { openLocalRepository } from './local-tree.ts';
import { rendererFor } from './plan-kustomize.ts';
import { scanJson, scanTable } from './scan-output.ts';
import { sensitiveKinds } from './sensitive-resources.ts';

interface Flags {
  readonly repoRoot?: string;
  readonly kustomize?: string;
  readonly additionalSensitiveResources?: string;
  readonly output: 'table' | 'json';
}

const exitCode = { accepted: 0, badInput: 2, refused: 3 } as const;
const progressEveryMs = 2_000;

/** The command for `main.ts`. It sets `process.exitCode`: 0 all accepted, 3 something refused, 2 bad input. */
export function scanCommand(): Command {
  return new Command('scan')
    .description('say which folders of a repository can be adopted, and what of them stays as it is')
    .argument('<folder>', 'a repository, or a folder of one')
    .option('--repo-root <dir>', 'repository root (default: next folder upwards with .git, else the folder)')
    .option(
      '--additional-sensitive-resources <list>',
      'further resources that reach Git only encrypted, e.g. secrets.example.org',
    )
    .option('--kustomize <bin>', 'the kustomize binary (default: from PATH)')
    .addOption(new Option('--output <form>', 'what to print').choices(['table', 'json']).default('table'))
    .showSuggestionAfterError(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCode.accepted : exitCode.badInput))
    .action(async (folder: string, flags: Flags) => {
      process.exitCode = await runScan(folder, flags);
    });
}

async function runScan(folder: string, flags: Flags): Promise<number> {
  try {
    const report = await scanFolder(folder, flags);
    process.stdout.write(flags.output === 'json' ? scanJson(report) : scanTable(report));
    if (report.folders.length === 0) process.stderr.write(`scan: ${folder}: no folder with manifests\n`);
    return report.folders.every(({ accepted }) => accepted) ? exitCode.accepted : exitCode.refused;
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    process.stderr.write(`scan: ${error.message}\n`);
    return exitCode.badInput;
  }
}

async function scanFolder(given: string, flags: Flags): Promise<ScanReport> {
  if (/^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:/.test(given))
    throw new BadInput('the address of a remote; scan reads a folder on disk, so clone the repository first');
  const root = flags.repoRoot === undefined ? undefined : callerPath(flags.repoRoot);
  const render = await rendererFor(flags.kustomize);
  const { tree, folder } = await openLocalRepository(callerPath(given), root);
  let toldAt = Date.now();
  return await scan(tree, {
    within: folder,
    render,
    isSensitive: sensitiveKinds(flags.additionalSensitiveResources),
    progress(done, total) {
      if (done === total || Date.now() - toldAt < progressEveryMs) return;
      toldAt = Date.now();
      process.stderr.write(`scan: ${done} of ${total} folders\n`);
    },
  });
}
