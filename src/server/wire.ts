/**
 * A connection that Node's HTTP client asks over and reads the head from; what follows the head can be taken past its parser.
 * Everything is read into one buffer that is used again and again. The upstream of the artifact listener makes one per answer.
 */
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** More saves no calls, since the kernel rarely holds more, and every fetch has a buffer of its own. */
const bufferBytes = 256 * 1024;

export class Wire extends Duplex {
  readonly #socket: Socket;
  #ended = false;
  #taker: ((bytes: Uint8Array) => void) | undefined;

  /** @param idleMs silence after which it breaks off, also when that is because nobody asks for more */
  constructor(to: { readonly host: string; readonly port: number }, idleMs: number) {
    super();
    this.#socket = connect({
      ...to,
      onread: {
        buffer: Buffer.allocUnsafeSlow(bufferBytes),
        callback: (count, buffer) => {
          this.#receive(buffer.subarray(0, count));
          return true;
        },
      },
    });
    this.#socket.setTimeout(idleMs, () => this.destroy(new Error('silent for too long')));
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('end', () => this.#end());
    // What came before a proper end may still wait to be read.
    this.#socket.on('close', () => this.#ended || this.destroy());
    // 'close' says enough, and an error may come when the client listens no more.
    this.on('error', () => undefined);
  }

  /** From now on bytes go here, and only when they are asked for by next(). They are valid until it is called again. */
  divert(taker: (bytes: Uint8Array) => void): void {
    this.#taker = taker;
    this.#socket.pause();
    if (this.#ended) this.destroy();
  }

  next(): void {
    this.#socket.resume();
  }

  override _read(): void {
    if (this.#taker === undefined) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(bytes: Uint8Array): void {
    if (this.#taker !== undefined) {
      this.#socket.pause();
      this.#taker(bytes);
    } else if (!this.push(Buffer.from(bytes))) {
      this.#socket.pause();
    }
  }

  #end(): void {
    this.#ended = true;
    if (this.#taker === undefined) this.push(null);
    else this.destroy();
  }
}
