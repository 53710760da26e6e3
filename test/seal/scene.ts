/** Real keys, the real sops, and plans with both. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { identify } from '../../src/core/identity.ts';
import { knownAppliers } from '../../src/core/intent/index.ts';
import { isObject, type JsonObject } from '../../src/core/json.ts';
import {
  builtinResource,
  type Change,
  type Plan,
  type PlanOptions,
  plan,
} from '../../src/core/plan/index.ts';
import { agePair, type Concealed, type Sealer } from '../../src/core/sealed/index.ts';
import { readDocuments } from '../../src/core/yaml/index.ts';
import { createSealer } from '../../src/seal/index.ts';
import { treeOf } from '../cases/corpus.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { part } from '../cluster/parts.ts';

export type Texts = Readonly<Record<string, string>>;

export interface SealScene {
  readonly folder: Folder;
  readonly recipient: string;
  readonly key: Concealed<string>;
  /** Opens and seals. */
  readonly withKey: Sealer;
  /** Only seals. */
  readonly withoutKey: Sealer;
}

export function sealScene(program = part('sops')): SealScene {
  const folder = temporaryFolder('seal');
  const { key, recipient } = agePair(randomBytes(32));
  const options = { program, scratch: `${folder.path}/scratch`, recipients: [recipient] };
  return {
    folder,
    recipient,
    key,
    withKey: createSealer({ ...options, keys: key }),
    withoutKey: createSealer(options),
  };
}

/** The text as somebody who has sops would seal it by hand. */
export async function sealByHand(
  { recipient, folder }: Pick<SealScene, 'recipient' | 'folder'>,
  text: string,
  flags: readonly string[] = ['--encrypted-regex', '^(data|stringData)$'],
): Promise<string> {
  const args = ['encrypt', '--age', recipient, ...flags, '--filename-override', 'secret.yaml'];
  return await sops(folder, args, text);
}

/** What a person with the key reads. */
export async function openByHand(
  { key, folder }: Pick<SealScene, 'key' | 'folder'>,
  text: string,
): Promise<JsonObject> {
  const args = ['decrypt', '--filename-override', 'secret.yaml'];
  return objectOf(await sops(folder, args, text, { SOPS_AGE_KEY: key.reveal() }));
}

/** One value set by hand, as `sops set` or `sops edit` does. */
export async function setByHand(
  { key, folder }: Pick<SealScene, 'key' | 'folder'>,
  text: string,
  field: string,
  value: string,
): Promise<string> {
  const file = join(folder.path, 'by-hand.yaml');
  await writeFile(file, text);
  const args = ['set', '--value-stdin', file, field];
  await sops(folder, args, JSON.stringify(value), { SOPS_AGE_KEY: key.reveal() });
  return await readFile(file, 'utf8');
}

async function sops(folder: Folder, args: readonly string[], input: string, env = {}): Promise<string> {
  const running = promisify(execFile)(part('sops'), args, {
    cwd: folder.path,
    env: { HOME: folder.path, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

export async function planOn(
  files: Texts,
  changes: readonly Change[],
  options: Partial<PlanOptions>,
): Promise<Plan> {
  const tree = treeOf(new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])));
  return await plan(tree, changes, {
    folder: 'apps/shop',
    placement: {},
    prune: 'OnEvent',
    managers: { appliers: Object.values(knownAppliers).flat(), ignore: [] },
    isSensitive: ({ group, kind }) => group === '' && kind === 'Secret',
    resourceOf: builtinResource,
    bootstrap: false,
    ...options,
  });
}

/** The files after the plan. */
export function applied(files: Texts, planned: Plan): Record<string, string> {
  const result: Record<string, string> = { ...files };
  for (const { path, content } of planned.edits) {
    if (content === undefined) delete result[path];
    else result[path] = Buffer.from(content).toString('utf8');
  }
  return result;
}

export function objectOf(text: string): JsonObject {
  const [document] = readDocuments(text);
  if (document?.kind !== 'value' || !isObject(document.value)) throw new Error('the text is no object');
  return document.value;
}

/** A live Secret as the server has it. */
export function liveSecret(
  name: string,
  values: Readonly<Record<string, string | Uint8Array>>,
  more = {},
): JsonObject {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7' },
    type: 'Opaque',
    data: Object.fromEntries(data),
    ...more,
  };
}

export function upsert(live: JsonObject, more: Partial<Extract<Change, { kind: 'upsert' }>> = {}): Change {
  return { kind: 'upsert', live, applierKnown: false, ...more };
}

export function remove(live: JsonObject, more: Partial<Extract<Change, { kind: 'delete' }>> = {}): Change {
  const id = identify(live);
  if (id === undefined) throw new Error('the object has no identity');
  return { kind: 'delete', id, reason: 'observed', ...more };
}

export function refusals({ refused }: Plan): string[] {
  return refused.map(({ reason, path }) => `${reason} ${path ?? '-'}`);
}

/** Keys of the lines that differ, without the time of the last change: it may be of the same second. */
export function changedLines(before: string, after: string): string[] {
  const old = before.split('\n');
  const now = after.split('\n');
  if (old.length !== now.length) return ['(another number of lines)'];
  return now
    .flatMap((line, index) => (line === old[index] ? [] : [line.trim().split(':')[0] ?? '']))
    .filter((key) => key !== 'lastmodified');
}
