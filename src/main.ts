/** Process start: command line -> configuration -> wiring -> run -> graceful stop. */
import { program } from './cli/program.ts';

await program().parseAsync(process.argv);
