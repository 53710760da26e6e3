/**
 * Maps with some values replaced: the keys and their order stay. Made in the time of the replaced values alone, because an edit
 * changes one file of thousands.
 */

/** More than this and lookups would begin to pay for it: then the map is copied. */
const most = 256;

interface Layers<Key, Value> {
  readonly base: ReadonlyMap<Key, Value>;
  readonly over: ReadonlyMap<Key, Value>;
}

class Replaced<Key, Value> implements ReadonlyMap<Key, Value> {
  readonly layers: Layers<Key, Value>;

  constructor(layers: Layers<Key, Value>) {
    this.layers = layers;
  }

  get size(): number {
    return this.layers.base.size;
  }

  get(key: Key): Value | undefined {
    return this.layers.over.get(key) ?? this.layers.base.get(key);
  }

  has(key: Key): boolean {
    return this.layers.base.has(key);
  }

  *entries(): MapIterator<[Key, Value]> {
    const { base, over } = this.layers;
    for (const [key, value] of base) yield [key, over.get(key) ?? value];
  }

  keys(): MapIterator<Key> {
    return this.layers.base.keys();
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

/** Every key of `changes` is one of the map's; values are never undefined. */
export function withReplaced<Key, Value extends object>(
  map: ReadonlyMap<Key, Value>,
  changes: ReadonlyMap<Key, Value>,
): ReadonlyMap<Key, Value> {
  const { base, over }: Layers<Key, Value> =
    map instanceof Replaced ? map.layers : { base: map, over: new Map<Key, Value>() };
  const all = new Map([...over, ...changes]);
  if (all.size <= most) return new Replaced({ base, over: all });
  const copy = new Map(map);
  for (const [key, value] of changes) copy.set(key, value);
  return copy;
}
