/**
 * Puts signatures into a chain of commits that was just imported: each commit is written anew with its signature and
 * with the signed one before it as its parent. Trees stay as they are.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Git, git, succeeded } from './command.ts';
import type { CommitRequest, MadeCommit } from './commit.ts';
import { failureOf, type GitFailure } from './failure.ts';
import { commitHeader } from './import-stream.ts';
import { importRef, updateRef } from './refs.ts';
import type { Sign } from './signing.ts';

export async function signCommits(
  repository: Git,
  scratch: string,
  request: CommitRequest,
  unsigned: readonly MadeCommit[],
  sign: Sign,
): Promise<{ kind: 'ok'; commits: readonly MadeCommit[] } | GitFailure> {
  const texts: string[] = [];
  const signed: MadeCommit[] = [];
  let parent = request.base;
  for (const [index, { tree }] of unsigned.entries()) {
    const spec = request.commits[index];
    if (spec === undefined) throw new Error('git made more commits than were asked for');
    const { author, committer, message } = commitHeader(spec);
    const head = `tree ${tree}\n${parent === null ? '' : `parent ${parent}\n`}author ${author}\ncommitter ${committer}\n`;
    const signature = await sign(`${head}\n${message}`);
    // Every line after the first of a header is set in by a blank.
    const text = `${head}gpgsig ${signature.replaceAll('\n', '\n ')}\n\n${message}`;
    parent = createHash('sha1')
      .update(`commit ${Buffer.byteLength(text)}\0${text}`)
      .digest('hex');
    texts.push(text);
    signed.push({ commit: parent, tree });
  }
  const tip = signed.at(-1)?.commit;
  if (tip === undefined) return { kind: 'ok', commits: [] };
  const failure = await writeCommits(repository, scratch, texts, signed);
  if (failure !== undefined) return failure;
  const moved = await updateRef(repository, importRef(request.branch), tip);
  if (moved.kind === 'moved') throw new Error('a ref of ours moved by itself');
  return moved.kind === 'ok' ? { kind: 'ok', commits: signed } : moved;
}

async function writeCommits(
  repository: Git,
  scratch: string,
  texts: readonly string[],
  expected: readonly MadeCommit[],
): Promise<GitFailure | undefined> {
  const folder = await mkdtemp(join(scratch, 'commits-'));
  try {
    const files = texts.map((_text, index) => join(folder, `${index}`));
    for (const [index, file] of files.entries()) await writeFile(file, texts[index] ?? '');
    const args = ['hash-object', '-t', 'commit', '-w', '--no-filters', '--stdin-paths'];
    const result = await git(repository, args, { input: `${files.join('\n')}\n` });
    if (!succeeded(result)) return failureOf(result, 'writing signed commits');
    const ids = result.stdout.toString().trim().split('\n');
    if (expected.some(({ commit }, index) => ids[index] !== commit)) {
      throw new Error('git gave a signed commit another id than expected');
    }
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
