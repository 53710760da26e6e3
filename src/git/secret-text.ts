/**
 * A secret value in memory. Printing, logging or serialising it shows a mask; only `reveal` gives the text.
 */
import { inspect } from 'node:util';

const mask = '[secret]';

export class SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}
