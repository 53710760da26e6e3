/** Paths on the command line are relative to where the command was called, also through `npm run`. */
import { resolve } from 'node:path';

/** npm runs scripts in the package's folder and leaves the caller's folder in INIT_CWD. */
export function callerPath(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path);
}
