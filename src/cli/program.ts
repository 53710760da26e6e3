/** The command line: every command in one place. */
import { Command } from 'commander';
import { checkCommand } from './check.ts';
import { crdsCommand } from './crds.ts';
import { flushCommand } from './flush.ts';
import { gateCommand } from './gate.ts';
import { generateCommand } from './generate.ts';
import { planCommand } from './plan.ts';
import { runCommand } from './run.ts';
import { scanCommand } from './scan.ts';
import { statusCommand } from './status.ts';
import { version } from './version.ts';

export function program(): Command {
  const root = new Command('gitops-reverser')
    .description('Writes live Kubernetes edits into the manifests that made the objects.')
    .showHelpAfterError('(add --help for the options)')
    .version(version, '-V, --version', 'print the version')
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
  root.addCommand(runCommand());
  root.addCommand(planCommand());
  root.addCommand(scanCommand());
  root.addCommand(checkCommand());
  root.addCommand(statusCommand());
  root.addCommand(flushCommand());
  root.addCommand(gateCommand());
  root.addCommand(crdsCommand());
  root.addCommand(generateCommand(), { hidden: true });
  root.addCommand(versionCommand());
  return root;
}

function versionCommand(): Command {
  return new Command('version').description('print the version').action(() => console.log(version));
}
