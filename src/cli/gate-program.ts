/** The command line with `gate` alone: it runs at every render, and must not load what the other commands need. */
import { Command } from 'commander';
import { gateCommand } from './gate.ts';

export function program(): Command {
  return new Command('gitops-reverser').addCommand(gateCommand());
}
