/**
 * `plan FOLDER --live FILE…`: what the given live objects would change in a folder of manifests, as a diff. Needs no cluster
 * and no remote. The same planning code runs in the sidecar.
 */
import { Command, Option } from 'commander';
import { createIndexCache } from '../core/folder/index.ts';
import { knownAppliers } from '../core/intent/index.ts';
import { crdSchemasOf } from '../core/intent/schema/index.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { type Plan, type PlanOptions, plan } from '../core/plan/index.ts';
import { BadInput } from './bad-input.ts';
import { callerPath } from './caller-path.ts';
import { openLocalRepository } from './local-tree.ts';
import { readAppliers } from './plan-applier.ts';
import { type GivenObjects, readChanges } from './plan-changes.ts';
import { printDiff } from './plan-diff.ts';
import { kustomizeFor } from './plan-kustomize.ts';
import { readObjectFolder } from './plan-objects.ts';
import { linesFor, reportOf } from './plan-output.ts';
import { type SealingFlags, withSealer } from './plan-sealing.ts';
import { defaultTarget, readTarget } from './plan-target.ts';
import { writeEdits } from './plan-write.ts';
import { guessedResource, sensitiveKinds } from './sensitive-resources.ts';

interface Flags extends GivenObjects, SealingFlags {
  readonly repoRoot?: string;
  readonly target?: string;
  readonly crds?: readonly string[];
  readonly fluxKustomization?: string;
  readonly kustomize?: string;
  readonly additionalSensitiveResources?: string;
  readonly write?: true;
  readonly output: 'diff' | 'json';
}

const exitCode = { done: 0, badInput: 2, refused: 3 } as const;

/** The command for `main.ts`. It sets `process.exitCode`: 0 planned or nothing to do, 3 something refused, 2 bad input. */
export function planCommand(): Command {
  return new Command('plan')
    .description('show what live objects would change in a folder of manifests')
    .argument('<folder>', 'the folder of manifests')
    .option('--live <file...>', 'live objects: YAML or JSON, lists too, - for standard input', [])
    .option('--repo-root <dir>', 'repository root (default: next folder upwards with .git, else the folder)')
    .option(
      '--target <file>',
      'a GitTarget: placement, prune, encryption, serializeNamespace, ignoreManagers',
    )
    .option('--previous <file...>', 'live objects as last handled; one that is not in --live is deleted')
    .option(
      '--deleted <object>',
      'one live delete, KIND[.GROUP]/[NAMESPACE/]NAME; may be repeated',
      append,
      [],
    )
    .option('--crds <dir...>', 'CustomResourceDefinitions, for defaults and list keys')
    .option('--flux-kustomization <file>', 'the Flux Kustomization that applies the folder')
    .option('--sops-age-recipient <recipient>', 'age public key to encrypt for; may be repeated', append, [])
    .option(
      '--additional-sensitive-resources <list>',
      'further resources that reach Git only encrypted, e.g. secrets.example.org',
    )
    .option('--kustomize <bin>', 'the kustomize binary (default: from PATH)')
    .option('--sops <bin>', 'the sops binary (default: from PATH)')
    .option('--write', 'change the folder')
    .addOption(new Option('--output <form>', 'what to print').choices(['diff', 'json']).default('diff'))
    .showSuggestionAfterError(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCode.done : exitCode.badInput))
    .action(async (folder: string, flags: Flags) => {
      process.exitCode = await runPlan(folder, flags);
    });
}

async function runPlan(folder: string, flags: Flags): Promise<number> {
  try {
    return await planFolder(folder, flags);
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    process.stderr.write(`plan: ${error.message}\n`);
    return exitCode.badInput;
  }
}

async function planFolder(folder: string, flags: Flags): Promise<number> {
  const repository = await openLocalRepository(
    callerPath(folder),
    flags.repoRoot === undefined ? undefined : callerPath(flags.repoRoot),
  );
  const target = flags.target === undefined ? defaultTarget : await readTarget(flags.target);
  const crdObjects = (await Promise.all((flags.crds ?? []).map(readObjectFolder))).flat();
  const appliers = await readAppliers(repository, flags.fluxKustomization);
  const changes = await readChanges(flags, appliers.isApplied);
  const { ignoreManagers, recipients, ...settings } = target;
  const crds = crdSchemasOf(crdObjects);
  const resourceOf = (apiVersion: string, kind: string) =>
    crdResource(crdObjects, apiVersion, kind) ?? guessedResource(apiVersion, kind);
  const isSensitive = sensitiveKinds(flags.additionalSensitiveResources, resourceOf);
  const options: Omit<PlanOptions, 'sealer'> = {
    ...settings,
    folder: repository.folder,
    managers: { appliers: Object.values(knownAppliers).flat(), ignore: ignoreManagers },
    crds,
    isSensitive: ({ group, kind }) => isSensitive(group === '' ? 'v1' : `${group}/v1`, kind),
    resourceOf,
    isSubstituted: appliers.isSubstituted,
    kustomize: await kustomizeFor(flags.kustomize, appliers),
    bootstrap: false,
    cache: createIndexCache(1_000_000),
  };
  const planned = await withSealer(flags, recipients, (sealer) =>
    plan(repository.tree, changes, { ...options, sealer }),
  );
  const before = new Map<string, Uint8Array>();
  for (const { path, action } of planned.edits) {
    if (action !== 'create') before.set(path, await repository.tree.read(path));
  }
  report(planned, flags.output, before);
  if (flags.write === true) await writeEdits(repository.root, planned.edits, before);
  return planned.refused.length > 0 ? exitCode.refused : exitCode.done;
}

function report(planned: Plan, output: Flags['output'], before: ReadonlyMap<string, Uint8Array>): void {
  const text =
    output === 'json' ? `${JSON.stringify(reportOf(planned), null, 2)}\n` : printDiff(planned.edits, before);
  process.stdout.write(text);
  for (const line of linesFor(planned)) process.stderr.write(`${line}\n`);
}

function crdResource(crds: readonly JsonObject[], apiVersion: string, kind: string) {
  for (const { spec } of crds) {
    if (!isObject(spec) || !isObject(spec.names) || spec.names.kind !== kind) continue;
    const { plural } = spec.names;
    if (typeof plural !== 'string' || !apiVersion.startsWith(`${String(spec.group)}/`)) continue;
    return { resource: plural, namespaced: spec.scope !== 'Cluster' };
  }
  return undefined;
}

function append(value: string, list: readonly string[]): string[] {
  return [...list, value];
}
