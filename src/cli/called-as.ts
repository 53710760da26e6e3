/** By which name people called us: the file may be linked as a plugin of kubectl, flux or argocd. */
import { basename } from 'node:path';

const ownName = 'gitops-reverser';

/** @param path of the program as it was started, links not followed */
export function calledAs(path: string | undefined): string {
  const [, tool] = /^(kubectl|flux|argocd)-reverser(?:\.\w+)?$/.exec(basename(path ?? '')) ?? [];
  return tool === undefined ? ownName : `${tool} reverser`;
}
