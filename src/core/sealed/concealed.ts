/** A value that must not be seen. Printing, logging or serialising it shows a mask; only `reveal` gives the value. */

const mask = '[secret]';

export class Concealed<Value> {
  readonly #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  reveal(): Value {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return mask;
  }
}
