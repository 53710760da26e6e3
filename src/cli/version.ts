/** The version of this build, and the check that Node is new enough to run it. */

/** esbuild writes package.json's version here; run from source it is told apart. */
export const version = process.env.GITOPS_REVERSER_VERSION ?? '0.0.0-source';

export const leastNode = 24;

/** A sentence for a person when the running Node is too old; undefined when it is fine. */
export function nodeTooOld(running: string): string | undefined {
  const major = Number.parseInt(running, 10);
  if (major >= leastNode) return undefined;
  return `gitops-reverser needs Node ${leastNode} or newer and runs on ${running}; start it with the node in node_modules/.bin, or install Node ${leastNode}`;
}
