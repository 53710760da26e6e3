/** A map whose values are made whenever somebody asks for them, so that none has to be kept. */

export abstract class MadeMap<Key, Value> implements ReadonlyMap<Key, Value> {
  abstract get(key: Key): Value | undefined;
  abstract has(key: Key): boolean;
  abstract entries(): MapIterator<[Key, Value]>;
  abstract keys(): MapIterator<Key>;

  get size(): number {
    let size = 0;
    for (const _key of this.keys()) size += 1;
    return size;
  }

  *values(): MapIterator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.entries();
  }

  forEach(callback: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}
