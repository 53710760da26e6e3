/**
 * Runs the real `kustomize build` in a scratch copy of the files it may read, and hands out what it printed.
 *
 * The copy is the jail: it holds nothing but the files asked for, and the program's own rule about files outside a folder is
 * off inside it. No plugins, no charts, no proxies, credentials or home of ours; time, files and output are bounded. It decides
 * nothing: called by core/kustomize through `Render`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import type { Render, RenderOutput, RenderRequest } from '../core/kustomize/index.ts';

export interface KustomizeOptions {
  /** Path or name of the program; unset: `kustomize` in PATH. */
  readonly program?: string;
  /** Where the scratch copies are made; unset: the system's folder for temporary files. */
  readonly scratch?: string;
  readonly deadlineMs?: number;
  readonly maxOutputBytes?: number;
  readonly maxFiles?: number;
  readonly maxInputBytes?: number;
  /** Builds at the same time. */
  readonly concurrency?: number;
}

interface Limits {
  readonly deadlineMs: number;
  readonly maxOutputBytes: number;
  readonly maxFiles: number;
  readonly maxInputBytes: number;
}

const defaultLimits: Limits = {
  deadlineMs: 60_000,
  maxOutputBytes: 64 * 1024 * 1024,
  maxFiles: 20_000,
  maxInputBytes: 256 * 1024 * 1024,
};
const keptErrorBytes = 8 * 1024;

/** Without the program every build says so, as a value. Throws only when the scratch folder cannot be used. */
export function createKustomize(options: KustomizeOptions = {}): Render {
  const limits = { ...defaultLimits, ...options };
  const slots = createSlots(options.concurrency ?? 2);
  let found: Promise<string | undefined> | undefined;
  return {
    async build(request) {
      found ??= findProgram(options.program ?? 'kustomize');
      const program = await found;
      if (program === undefined) {
        found = undefined;
        const message = `${options.program ?? 'kustomize'} cannot be run; install kustomize or name it with --kustomize`;
        return { ok: false, reason: 'Unavailable', message };
      }
      const problem = tooLarge(request, limits);
      if (problem !== undefined) return problem;
      return await slots(() => inScratch(program, request, options.scratch ?? tmpdir(), limits));
    },
  };
}

function tooLarge({ files }: RenderRequest, { maxFiles, maxInputBytes }: Limits): RenderOutput | undefined {
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  if (files.length <= maxFiles && bytes <= maxInputBytes) return undefined;
  const message = `the build reads ${files.length} files of ${bytes} bytes together, more than we copy`;
  return { ok: false, reason: 'TooLarge', message };
}

async function findProgram(program: string): Promise<string | undefined> {
  const folders = program.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  for (const folder of folders) {
    const path = folder === '' ? program : join(folder, program);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return isAbsolute(path) ? path : join(process.cwd(), path);
  }
  return undefined;
}

async function inScratch(
  program: string,
  request: RenderRequest,
  scratch: string,
  limits: Limits,
): Promise<RenderOutput> {
  const folder = await realpath(await mkdtemp(join(scratch, 'kustomize-')));
  try {
    const tree = join(folder, 'tree');
    await copyFiles(tree, request);
    const home = join(folder, 'home');
    await mkdir(home);
    return await run(program, { tree, root: join(tree, request.root), home }, limits);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyFiles(tree: string, { files, root }: RenderRequest): Promise<void> {
  const folders = new Set([join(tree, root)]);
  for (const { path } of files) {
    const full = join(tree, path);
    if (relative(tree, full).startsWith('..')) throw new Error(`${path} leaves the scratch copy`);
    folders.add(dirname(full));
  }
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  await Promise.all(
    files.map(({ path, content }) => writeFile(join(tree, path), content, { mode: 0o600, flag: 'wx' })),
  );
}

interface Jail {
  readonly tree: string;
  readonly root: string;
  readonly home: string;
}

function run(program: string, { tree, root, home }: Jail, limits: Limits): Promise<RenderOutput> {
  return new Promise((resolve) => {
    const child = spawn(program, ['build', '--load-restrictor', 'LoadRestrictionsNone', root], {
      cwd: root,
      // No PATH: kustomize must find neither git nor helm nor anything else to run. A short life collects little garbage.
      env: {
        HOME: home,
        XDG_CONFIG_HOME: home,
        TMPDIR: home,
        PATH: home,
        LC_ALL: 'C',
        GOMAXPROCS: '2',
        GOGC: '400',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const stdout: Buffer[] = [];
    let bytes = 0;
    let stderr = Buffer.alloc(0);
    let ended: Extract<RenderOutput, { ok: false }> | undefined;
    const end = (why: Extract<RenderOutput, { ok: false }>): void => {
      ended ??= why;
      killGroup(child);
    };
    const deadline = setTimeout(
      () =>
        end({ ok: false, reason: 'TimedOut', message: `the build took longer than ${limits.deadlineMs} ms` }),
      limits.deadlineMs,
    );
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limits.maxOutputBytes) stdout.push(chunk);
      else
        end({
          ok: false,
          reason: 'TooLarge',
          message: `the build printed more than ${limits.maxOutputBytes} bytes`,
        });
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk.subarray(0, keptErrorBytes - stderr.length)]);
    });
    child.on('error', (cause) => {
      clearTimeout(deadline);
      resolve({ ok: false, reason: 'Unavailable', message: `${program} cannot be run: ${cause.message}` });
    });
    child.on('close', (code) => {
      clearTimeout(deadline);
      if (ended !== undefined) resolve(ended);
      else if (code === 0) resolve({ ok: true, text: Buffer.concat(stdout).toString('utf8') });
      // What a shell says of a file that is no program.
      else if (code === 126 || code === 127)
        resolve({ ok: false, reason: 'Unavailable', message: `${program} is no program that runs here` });
      else
        resolve({
          ok: false,
          reason: 'BuildFailed',
          message: reasonOf(stderr.toString('utf8').replaceAll(`${tree}/`, '')),
        });
    });
  });
}

/** The error without the warnings about old fields before it, and without the contents of files that it quotes. */
function reasonOf(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const error = lines.findIndex((line) => line.startsWith('Error:'));
  const text = (error < 0 ? lines : lines.slice(error)).join(' ').replace(/^Error:\s*/, '');
  const unquoted = text.replace(/`[^`]*(?:`|$)/g, '`…`').replace(/\{.*\}/g, '{…}');
  return unquoted === '' ? 'kustomize gave no reason' : unquoted.slice(0, 400);
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** At most so many at the same time; the others wait their turn. */
function createSlots(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = limit;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
