/** `generate`: writes the files that follow from tables: CRDs, reference pages, Lua for Argo CD, the page of metrics. For the developers of this project. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { crdFile } from '../api/crd.ts';
import { kinds } from '../api/kinds.ts';
import { argocdConfigFile } from '../api/lua.ts';
import { referencePage } from '../api/reference.ts';
import { metricsPage } from '../telemetry/metrics.ts';

export interface GeneratedFile {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Every generated file; the drift test compares them with what is committed. */
export function generatedFiles(): GeneratedFile[] {
  const pages = kinds.flatMap((definition) => {
    const crd = crdFile(definition);
    const page = referencePage(definition);
    return [
      { path: `manifests/crds/${crd.name}`, text: crd.text },
      { path: `docs/reference/${page.name}`, text: page.text },
    ];
  });
  const lua = argocdConfigFile();
  return [
    ...pages,
    { path: `manifests/argocd/${lua.name}`, text: lua.text },
    { path: 'docs/metrics.md', text: metricsPage() },
  ];
}

export function generateCommand(): Command {
  return new Command('generate')
    .description('write the generated files of this project: CRDs and reference pages')
    .option('--root <dir>', 'the project', '.')
    .action(async ({ root }: { root: string }) => {
      for (const { path, text } of generatedFiles()) {
        await mkdir(join(root, path, '..'), { recursive: true });
        await writeFile(join(root, path), text);
      }
    });
}
