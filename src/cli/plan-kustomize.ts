/** Kustomize for `plan`: the program a person names, the one in PATH, or the one that `make` built. */
import { access, constants } from 'node:fs/promises';
import type { KustomizeOptions, Render } from '../core/kustomize/index.ts';
import { createKustomize } from '../render/index.ts';
import { BadInput } from './bad-input.ts';
import { builtPart } from './built-part.ts';
import { callerPath } from './caller-path.ts';
import type { Appliers } from './plan-applier.ts';

/** Throws BadInput when the program that was named is not there; without any, kustomize folders are refused by name. */
export async function kustomizeFor(
  program: string | undefined,
  { postBuild, isFolderApplied }: Appliers,
): Promise<KustomizeOptions> {
  return {
    render: await rendererFor(program),
    isApplied: isFolderApplied,
    ...(postBuild === undefined ? {} : { postBuild }),
  };
}

/** The same for who only builds. */
export async function rendererFor(program: string | undefined): Promise<Render> {
  return createKustomize({ program: await programOf(program) });
}

async function programOf(given: string | undefined): Promise<string> {
  if (given === undefined)
    return (await inPath('kustomize')) ?? (await builtPart('kustomize')) ?? 'kustomize';
  const program = given.includes('/') ? callerPath(given) : await inPath(given);
  if (program === undefined || !(await isProgram(program)))
    throw new BadInput(`--kustomize ${given}: there is no such program`);
  return program;
}

async function inPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    if (folder.startsWith('/') && (await isProgram(`${folder}/${name}`))) return `${folder}/${name}`;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
