/** `crds`: prints the CustomResourceDefinitions, for `kubectl apply -f -`. */
import { Command } from 'commander';
import { allCrds } from '../api/crd.ts';

export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions of our kinds, for kubectl apply -f -')
    .action(() => {
      process.stdout.write(allCrds());
    });
}
