/** Finds the sidecar's checkout of the very commit that is rendered; the plugin's own copy of it is as good, only slower. */
import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { GateQuestion } from '../core/gate/index.ts';

/** The folder of the question's path in it; undefined: there is none, the command runs where it is. */
export async function sharedCheckout(
  checkoutDir: string | undefined,
  { revision, path }: Pick<GateQuestion, 'revision' | 'path'>,
): Promise<string | undefined> {
  if (checkoutDir === undefined || checkoutDir === '') return undefined;
  try {
    const tree = await realpath(join(checkoutDir, 'commits', revision));
    const folder = await realpath(join(tree, path));
    const inside = folder === tree || folder.startsWith(`${tree}${sep}`);
    return inside && (await stat(folder)).isDirectory() ? folder : undefined;
  } catch {
    return undefined;
  }
}
