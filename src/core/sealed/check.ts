/**
 * Whether a sealed document is what it has to be: the wanted object value by value, nothing of it readable that must not be,
 * and still findable by its identity. Told without a key: a ciphertext shows the type and the length of its value.
 */
import { equalJson, isObject, type Json, type JsonObject, type Path, valueAt } from '../json.ts';
import { readCiphertext } from './ciphertext.ts';

export interface CheckedSeal {
  /** As it stands in the file. */
  readonly sealed: Json;
  /** What it shall say. */
  readonly desired: JsonObject;
  /** As the file stood before: what was readable in it may stay as it was. */
  readonly before?: JsonObject;
  /** The content must not be readable; else only what was sealed before must be sealed again. */
  readonly sensitive: boolean;
}

/** What is wrong, as the end of a sentence, without a value; undefined when nothing is. */
export function sealProblem(seal: CheckedSeal): string | undefined {
  const { sealed, desired, before } = seal;
  if (!isObject(sealed) || !isObject(sealed.sops)) return 'has no sops part';
  const { sops, ...document } = sealed;
  if (typeof sops.mac !== 'string' || readCiphertext(sops.mac) === undefined) return 'has no checksum';
  for (const path of identityPaths) {
    if (!equalJson(valueAt(document, path), valueAt(desired, path))) {
      return `does not show ${path.join('.')}, so nobody could find it; let the rule say encrypted_regex: ^(data|stringData)$`;
    }
  }
  const wrong = difference(seal, [], document, desired);
  return wrong ?? copyIn(document, desired, before);
}

const identityPaths: readonly Path[] = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
];

function difference(
  seal: CheckedSeal,
  path: Path,
  found: Json | undefined,
  wanted: Json,
): string | undefined {
  if (isObject(wanted) && isObject(found)) {
    const keys = new Set([...Object.keys(wanted), ...Object.keys(found)]);
    for (const key of keys) {
      if (!Object.hasOwn(wanted, key) || !Object.hasOwn(found, key)) return differs([...path, key]);
      const problem = difference(seal, [...path, key], found[key], wanted[key] ?? null);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (Array.isArray(wanted) && Array.isArray(found)) {
    if (wanted.length !== found.length) return differs(path);
    return wanted.map((item, index) => difference(seal, [...path, index], found[index], item)).find(Boolean);
  }
  if (equalJson(found, wanted)) return mayBeRead(seal, path, wanted) ? undefined : readable(path);
  return typeof found === 'string' && hides(found, wanted) ? undefined : differs(path);
}

function hides(found: string, wanted: Json): boolean {
  const ciphertext = readCiphertext(found);
  if (ciphertext === undefined) return false;
  const { type, length } = ciphertext;
  if (typeof wanted === 'string') return type === 'str' && length === Buffer.byteLength(wanted, 'utf8');
  if (typeof wanted === 'boolean') return type === 'bool';
  return (typeof wanted === 'number' || typeof wanted === 'bigint') && (type === 'int' || type === 'float');
}

/** sops leaves what is empty as it is. */
function mayBeRead({ desired, before, sensitive }: CheckedSeal, path: Path, value: Json): boolean {
  if (value === null || value === '' || typeof value === 'object') return true;
  const was = before === undefined ? undefined : valueAt(before, path);
  // A value that was sealed must be sealed again; one that was readable in the file may stay so.
  if (typeof was === 'string' && readCiphertext(was) !== undefined) return false;
  if (!sensitive || isOpenField(desired, path)) return true;
  return equalJson(was, value);
}

/** Fields that say which object it is and what kind of thing, not what is in it. */
function isOpenField(desired: JsonObject, [top]: Path): boolean {
  if (top === 'apiVersion' || top === 'kind' || top === 'metadata') return true;
  return desired.kind === 'Secret' && desired.apiVersion === 'v1' && (top === 'type' || top === 'immutable');
}

/** The shortest value looked for in annotations; shorter ones stand everywhere by chance. */
const minCopy = 4;

/** Tools keep a copy of what they applied in an annotation. One that holds a key of the Secret together with its value is such. */
function copyIn(
  document: JsonObject,
  desired: JsonObject,
  before: JsonObject | undefined,
): string | undefined {
  const metadata = isObject(document.metadata) ? document.metadata : {};
  const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
  const known = before === undefined ? undefined : valueAt(before, ['metadata', 'annotations']);
  const texts = Object.entries(annotations).flatMap(([key, value]) => {
    const isKnown = isObject(known) && equalJson(known[key], value);
    return typeof value === 'string' && !isKnown ? [{ key, value }] : [];
  });
  for (const [field, forms] of texts.length === 0 ? [] : contentOf(desired)) {
    const copy = texts.find(
      ({ value }) => value.includes(field) && forms.some((form) => value.includes(form)),
    );
    if (copy !== undefined)
      return `repeats the value of ${field} in its annotation ${copy.key}; remove it live`;
  }
  return undefined;
}

/** The keys of a Secret with the forms in which its values might be copied. */
function contentOf({ data, stringData }: JsonObject): [string, string[]][] {
  const coded = Object.entries(isObject(data) ? data : {}).map(([key, value]): [string, Json[]] => [
    key,
    typeof value === 'string' ? [value, Buffer.from(value, 'base64').toString('utf8')] : [],
  ]);
  const plain = Object.entries(isObject(stringData) ? stringData : {}).map(
    ([key, value]): [string, Json[]] => [
      key,
      typeof value === 'string' ? [value, Buffer.from(value, 'utf8').toString('base64')] : [],
    ],
  );
  return [...coded, ...plain].map(([key, values]) => {
    const texts = values.filter((value) => typeof value === 'string' && value.length >= minCopy).map(String);
    return [key, texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])];
  });
}

/**
 * The first field of a live object that holds ciphertext of sops: somebody applied the sealed file without opening it, and the
 * content is lost there. Undefined when there is none.
 */
export function ciphertextIn(live: JsonObject): string | undefined {
  const data = isObject(live.data) ? live.data : {};
  const found = Object.entries(data).find(
    ([, value]) =>
      typeof value === 'string' &&
      readCiphertext(Buffer.from(value, 'base64').toString('utf8').trim()) !== undefined,
  );
  return found === undefined ? undefined : `data.${found[0]}`;
}

function readable(path: Path): string {
  return `leaves ${path.join('.')} readable; let the rule seal it too`;
}

function differs(path: Path): string {
  return `does not hold the wanted value at ${path.join('.') || 'its top'}`;
}
