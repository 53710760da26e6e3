/** The command line with `gate` alone: it runs at every render, and must not load what the other commands need. */
import { Command } from 'commander';
import { calledAs } from './called-as.ts';
import { gateCommand } from './gate.ts';

export function program(): Command {
  return new Command(calledAs(process.argv[1])).addCommand(gateCommand());
}
