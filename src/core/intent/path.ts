/** Paths as people read them. */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';

const plainKey = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Fields that tell one list item from another, the most telling first. */
const telling = [
  'name',
  'containerPort',
  'port',
  'mountPath',
  'devicePath',
  'host',
  'ip',
  'topologyKey',
  'key',
];

/**
 * `spec.template.spec.containers[app].image`; keys with dots are quoted: `metadata.annotations["a.b/c"]`.
 *
 * List items go by their name when the object the path leads through is given, else by their position.
 */
export function formatPath(path: Path, inside?: JsonObject): string {
  let text = '';
  let value: Json | undefined = inside;
  for (const step of path) {
    if (typeof step === 'number') {
      const item: Json | undefined = Array.isArray(value) ? value[step] : undefined;
      text += `[${itemName(item) ?? step}]`;
      value = item;
    } else {
      text += formatKey(step, text === '');
      value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    }
  }
  return text;
}

function formatKey(key: string, first: boolean): string {
  if (!plainKey.test(key)) return `[${JSON.stringify(key)}]`;
  return first ? key : `.${key}`;
}

function itemName(item: Json | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  for (const key of telling) {
    const value = Object.hasOwn(item, key) ? item[key] : undefined;
    if (typeof value === 'string' && value !== '') return plainName(value);
    if (typeof value === 'number')
      return typeof item.protocol === 'string' ? `${value}/${item.protocol}` : String(value);
  }
  const name = isObject(item.metadata) ? item.metadata.name : undefined;
  return typeof name === 'string' ? plainName(name) : undefined;
}

function plainName(name: string): string {
  return /^[^[\]"\s]+$/.test(name) ? name : JSON.stringify(name);
}
