/** The command line: every command in one place. */
import { Command, type CommanderError } from 'commander';
import { calledAs } from './called-as.ts';
import { checkCommand } from './check.ts';
import { crdsCommand } from './crds.ts';
import { flushCommand } from './flush.ts';
import { gateCommand } from './gate.ts';
import { gateInitCommand } from './gate-init.ts';
import { generateCommand } from './generate.ts';
import { planCommand } from './plan.ts';
import { runCommand } from './run.ts';
import { scanCommand } from './scan.ts';
import { statusCommand } from './status.ts';
import { version } from './version.ts';

export function program(): Command {
  const root = new Command(calledAs(process.argv[1]))
    .description('Writes live Kubernetes edits into the manifests that made the objects.')
    .showHelpAfterError('(add --help for the options)')
    .version(version, '-V, --version', 'print the version')
    .exitOverride(exit);
  root.addCommand(runCommand().exitOverride(exit));
  root.addCommand(planCommand());
  root.addCommand(scanCommand());
  root.addCommand(checkCommand());
  root.addCommand(statusCommand().exitOverride(exit));
  root.addCommand(flushCommand().exitOverride(exit));
  root.addCommand(gateCommand().addCommand(gateInitCommand().exitOverride(exit)));
  root.addCommand(crdsCommand().exitOverride(exit));
  root.addCommand(generateCommand().exitOverride(exit), { hidden: true });
  root.addCommand(versionCommand().exitOverride(exit));
  return root;
}

/** Help is fine; what is not understood is bad input. Commands with codes of their own say so themselves. */
function exit({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? 0 : 2);
}

function versionCommand(): Command {
  return new Command('version').description('print the version').action(() => console.log(version));
}
