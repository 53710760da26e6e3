/**
 * A resident `git cat-file --batch`: objects by name, many requests in flight, answers in the order of the questions.
 *
 * When the process dies it is started anew and the open questions are asked once more; a second death fails them.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Git } from './command.ts';
import { cleanText } from './failure.ts';
import { killGroup } from './run.ts';

export type ObjectRead =
  | { readonly kind: 'object'; readonly id: string; readonly type: string; readonly content: Buffer }
  /** More bytes than allowed; they were skipped. */
  | { readonly kind: 'too-large'; readonly id: string; readonly type: string; readonly size: number }
  | { readonly kind: 'missing' };

interface Question {
  readonly name: string;
  readonly resolve: (read: ObjectRead) => void;
  readonly reject: (error: Error) => void;
  asked: number;
}

/** What is being received for the first open question. */
interface Answer {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  /** Bytes still to come, the line break at the end included. */
  missing: number;
  /** Undefined: too large, skipped. */
  readonly chunks: Buffer[] | undefined;
}

const maxHeaderBytes = 8_192;

export class ObjectStream {
  readonly #repository: Git;
  readonly #maxBytes: number;
  #child: ChildProcessWithoutNullStreams | undefined;
  #open: Question[] = [];
  #head = Buffer.alloc(0);
  #answer: Answer | undefined;
  #errors = '';
  #closed = false;

  constructor(repository: Git, maxBytes: number) {
    this.#repository = repository;
    this.#maxBytes = maxBytes;
  }

  /** `name` is an object id or `COMMIT:PATH`. Throws when git cannot be run or fails twice. */
  read(name: string): Promise<ObjectRead> {
    if (/[\n\r\0]/.test(name) || name === '')
      throw new Error(`no object has the name ${JSON.stringify(name)}`);
    if (this.#closed) return Promise.reject(new Error('the object reader is closed'));
    return new Promise((resolve, reject) => {
      const question: Question = { name, resolve, reject, asked: 0 };
      this.#open.push(question);
      this.#ask(question);
    });
  }

  /** Lets go of packs that a repack has replaced; the next question starts a new process. */
  async restart(): Promise<void> {
    while (this.#open.length > 0) await Promise.allSettled([this.#lastOpen()]);
    await this.#end();
  }

  /** Open questions are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#rejectAll(new Error('the object reader was closed'));
    await this.#end();
  }

  #lastOpen(): Promise<void> {
    return new Promise((resolve) => {
      const last = this.#open.at(-1);
      if (last === undefined) return resolve();
      this.#open[this.#open.length - 1] = {
        ...last,
        resolve: (read) => {
          last.resolve(read);
          resolve();
        },
        reject: (error) => {
          last.reject(error);
          resolve();
        },
      };
    });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    await new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.stdin.end();
      killGroup(child, 'SIGTERM');
    });
  }

  #ask(question: Question): void {
    question.asked++;
    const { stdin } = this.#child ?? this.#start();
    if (stdin.writableCorked === 0) {
      // Questions asked together go out in one write.
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    stdin.write(`${question.name}\n`);
  }

  #start(): ChildProcessWithoutNullStreams {
    const { dir, environment, children } = this.#repository;
    const child = spawn('git', ['cat-file', '--batch'], {
      cwd: dir,
      env: environment,
      stdio: 'pipe',
      detached: true,
    });
    children.add(child, 'resident');
    this.#child = child;
    this.#head = Buffer.alloc(0);
    this.#answer = undefined;
    this.#errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#child === child) this.#receive(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk}`.slice(-4_096);
    });
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => this.#died(child, `cannot run git: ${error.message}`));
    child.on('close', (code) =>
      this.#died(child, cleanText(this.#errors) || `git cat-file ended with code ${code}`),
    );
    return child;
  }

  #died(child: ChildProcessWithoutNullStreams, why: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    const again = this.#open.filter((question) => question.asked < 2);
    const failing = this.#open.filter((question) => question.asked >= 2);
    this.#open = again;
    for (const question of failing) question.reject(new Error(`cannot read ${question.name}: ${why}`));
    for (const question of again) this.#ask(question);
  }

  #rejectAll(error: Error): void {
    const open = this.#open;
    this.#open = [];
    for (const question of open) question.reject(error);
  }

  #receive(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      rest = this.#answer === undefined ? this.#readHeader(rest) : this.#readContent(this.#answer, rest);
    }
  }

  #readHeader(chunk: Buffer): Buffer {
    const end = chunk.indexOf(0x0a);
    const line = end < 0 ? chunk : chunk.subarray(0, end);
    this.#head = Buffer.concat([this.#head, line]);
    if (this.#head.length > maxHeaderBytes) {
      this.#rejectAll(new Error('git cat-file answered with something that is no header'));
      if (this.#child) killGroup(this.#child, 'SIGKILL');
      return Buffer.alloc(0);
    }
    if (end < 0) return Buffer.alloc(0);
    const header = this.#head.toString();
    this.#head = Buffer.alloc(0);
    const found = /^([0-9a-f]{40}) (blob|tree|commit|tag) (\d+)$/.exec(header);
    if (!found) {
      this.#open.shift()?.resolve({ kind: 'missing' });
      return chunk.subarray(end + 1);
    }
    const size = Number(found[3]);
    this.#answer = {
      id: found[1] ?? '',
      type: found[2] ?? '',
      size,
      missing: size + 1,
      chunks: size > this.#maxBytes ? undefined : [],
    };
    return chunk.subarray(end + 1);
  }

  #readContent(answer: Answer, chunk: Buffer): Buffer {
    const part = chunk.subarray(0, answer.missing);
    answer.chunks?.push(part);
    answer.missing -= part.length;
    if (answer.missing === 0) {
      this.#answer = undefined;
      const { id, type, size, chunks } = answer;
      const question = this.#open.shift();
      if (chunks === undefined) question?.resolve({ kind: 'too-large', id, type, size });
      else question?.resolve({ kind: 'object', id, type, content: Buffer.concat(chunks).subarray(0, size) });
    }
    return chunk.subarray(part.length);
  }
}
