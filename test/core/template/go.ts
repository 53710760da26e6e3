/** The real text/template, for comparison. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LiveWindowData, MessageResource } from '../../../src/core/template/message.ts';

const program = fileURLToPath(new URL('testdata/go/main.go', import.meta.url));

export interface GoResult {
  readonly ok: boolean;
  readonly text: string;
  readonly error: string;
}

export interface GoCase {
  readonly template: string;
  readonly data: LiveWindowData;
}

export function hasGo(): boolean {
  return spawnSync('go', ['version']).status === 0;
}

/** Renders all cases in one run of the Go program. */
export function renderWithGo(cases: readonly GoCase[]): GoResult[] {
  const input = JSON.stringify(
    cases.map(({ template, data }) => ({ Template: template, Data: goData(data) })),
  );
  const { status, stdout, stderr } = spawnSync('go', ['run', program], {
    input,
    encoding: 'utf8',
    env: { ...process.env, CGO_ENABLED: '0' },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`the Go program failed: ${stderr}`);
  return JSON.parse(stdout);
}

function goData({ author, gitTarget, resources }: LiveWindowData) {
  const operations: Record<string, number> = {};
  for (const { operation } of resources) operations[operation] = (operations[operation] ?? 0) + 1;
  return {
    Author: author,
    GitTarget: gitTarget,
    Count: resources.length,
    Operations: operations,
    Resources: resources.map(goResource),
  };
}

function goResource(resource: MessageResource) {
  return {
    Operation: resource.operation,
    Group: resource.group,
    Version: resource.version,
    Resource: resource.resource,
    Kind: resource.kind,
    Namespace: resource.namespace === '' ? '_cluster' : resource.namespace,
    Name: resource.name,
    APIVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
    ResourceVersion: resource.resourceVersion,
    Labels: resource.labels,
  };
}
