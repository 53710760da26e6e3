/** Image references, and how an `images` entry of a kustomization rewrites them. */

export interface ImageReference {
  readonly name: string;
  /** '' when there is none. */
  readonly tag: string;
  readonly digest: string;
}

export interface ImageEntry {
  /** A regular expression to kustomize. */
  readonly name: string;
  readonly newName: string;
  readonly newTag: string;
  readonly digest: string;
}

/** Splits `[host[:port]/]name[:tag][@digest]` the way kustomize does. */
export function parseImage(image: string): ImageReference {
  const slash = image.indexOf('/');
  const from = Math.max(slash, 0);
  const at = image.indexOf('@', from);
  const colon = image.indexOf(':', from);
  if (colon >= 0 && (at < 0 || colon < at)) {
    const end = at < 0 ? image.length : at;
    return { name: image.slice(0, colon), tag: image.slice(colon + 1, end), digest: digestAfter(image, at) };
  }
  if (at < 0) return { name: image, tag: '', digest: '' };
  return { name: image.slice(0, at), tag: '', digest: digestAfter(image, at) };
}

export function printImage({ name, tag, digest }: ImageReference): string {
  return `${name}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
}

function digestAfter(image: string, at: number): string {
  return at < 0 ? '' : image.slice(at + 1);
}

/**
 * The pattern of an entry's name; undefined when it is no valid expression, which would crash kustomize. Names with an
 * unbounded nested repeat are refused, too: such a pattern could hold us up for ever.
 */
export function imagePattern(name: string): RegExp | undefined {
  if (name.length > 1024 || /[+*}]\)*[+*{]/.test(name) || /\([^)]*[+*][^)]*\)[+*{]/.test(name))
    return undefined;
  try {
    return new RegExp(`^${name}(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$`);
  } catch {
    return undefined;
  }
}

export function matchesImage(entry: ImageEntry, image: string): boolean {
  return imagePattern(entry.name)?.test(image) ?? false;
}

/** The reference after the entry; a tag takes the digest away and the other way round. */
export function rewriteImage(entry: ImageEntry, image: ImageReference): ImageReference {
  const name = entry.newName === '' ? image.name : entry.newName;
  if (entry.newTag === '' && entry.digest === '') return { ...image, name };
  return { name, tag: entry.newTag, digest: entry.digest };
}
