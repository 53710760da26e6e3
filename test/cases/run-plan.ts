/** The `plan` command alone, as a process. */
import { planCommand } from '../../src/cli/plan.ts';

await planCommand().parseAsync();
