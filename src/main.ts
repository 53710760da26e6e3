#!/usr/bin/env node
/** Process start: the Node that runs must be new enough before anything else is even loaded; then the command line. */
import * as nodeModule from 'node:module';
import { nodeTooOld } from './cli/version.ts';

const problem = nodeTooOld(process.versions.node);
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}
// Saves compiling at every start, and the memory that takes. Node's own: off where its folder cannot be written.
nodeModule.enableCompileCache?.();
const [, , command, next] = process.argv;
const { program } =
  command === 'gate' && next !== 'init'
    ? await import('./cli/gate-program.ts')
    : await import('./cli/program.ts');
await program().parseAsync(process.argv);
