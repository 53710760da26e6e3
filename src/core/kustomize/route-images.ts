/**
 * Where the parts of a container's image come from, and the edit of the entry that gives a part.
 *
 * The way of the image is followed from its document through patches and entries. Only when that gives what the build gives is
 * it believed; the build after the edit is the proof.
 */
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import { type ImageReference, matchesImage, parseImage, printImage, rewriteImage } from './image.ts';
import { type Job, setAt } from './job.ts';
import { editKustomization, withImage } from './kustomization-edits.ts';
import type { Layer } from './layers.ts';
import type { AppliedPatch } from './patches.ts';

const lists = new Set(['containers', 'initContainers', 'ephemeralContainers']);

interface Slot {
  readonly path: Path;
  readonly image: string;
}

/** The images of an object by place, list items by name. */
export function imageSlots(object: JsonObject): Map<string, Slot> {
  const found = new Map<string, Slot>();
  const visit = (value: Json, path: Path, key: string): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index], `${key}/${index}`);
      return;
    }
    if (!isObject(value)) return;
    for (const [field, member] of Object.entries(value)) {
      const items = Array.isArray(member) ? member : [];
      const isNamed = items.length > 0 && items.every((one) => isObject(one) && typeof one.name === 'string');
      if (!isNamed || !(lists.has(field) || field === 'volumes')) {
        visit(member, [...path, field], `${key}/${field}`);
        continue;
      }
      for (const [index, item] of items.entries()) {
        const place = imagePlace(field, item);
        if (place !== undefined)
          found.set(`${key}/${field}[${place.name}]`, {
            path: [...path, field, index, ...place.path],
            image: place.image,
          });
      }
    }
  };
  visit(object, [], '');
  return found;
}

function imagePlace(field: string, item: Json): { name: string; path: Path; image: string } | undefined {
  if (!isObject(item) || typeof item.name !== 'string') return undefined;
  if (field !== 'volumes')
    return typeof item.image === 'string'
      ? { name: item.name, path: ['image'], image: item.image }
      : undefined;
  const image = isObject(item.image) ? item.image.reference : undefined;
  return typeof image === 'string' ? { name: item.name, path: ['image', 'reference'], image } : undefined;
}

interface Supplier {
  readonly layer: Layer;
  readonly index: number;
}

interface Way {
  readonly image: string;
  /** What a document or patch states. */
  readonly stated: { readonly slot: Slot; readonly patch: AppliedPatch | undefined };
  /** The entries that gave the parts; undefined: what is stated. */
  readonly name: Supplier | undefined;
  readonly version: Supplier | undefined;
  /** The last entry of the home layer that matched, and the image when that layer was done. */
  readonly atHome: { readonly entry: number | undefined; readonly name: string };
}

function followImage(job: Job, key: string): Way | undefined {
  let slot = imageSlots(job.source.document.value).get(key);
  let patch: AppliedPatch | undefined;
  let image = slot?.image;
  let name: Supplier | undefined;
  let version: Supplier | undefined;
  let atHome: Way['atHome'] | undefined;
  for (const layer of job.layers) {
    for (const one of job.patches.merged.filter((candidate) => candidate.layer === layer)) {
      const stated = imageSlots(one.value).get(key);
      if (stated === undefined) continue;
      [slot, patch, image, name, version] = [stated, one, stated.image, undefined, undefined];
    }
    let matched: number | undefined;
    for (const [index, entry] of layer.kustomization.images.entries()) {
      if (image === undefined || !matchesImage(entry, image)) continue;
      matched = index;
      if (entry.newName !== '') name = { layer, index };
      if (entry.newTag !== '' || entry.digest !== '') version = { layer, index };
      image = printImage(rewriteImage(entry, parseImage(image)));
    }
    if (layer === job.home && image !== undefined) atHome = { entry: matched, name: parseImage(image).name };
  }
  if (slot === undefined || image === undefined) return undefined;
  return {
    image,
    stated: { slot, patch },
    name,
    version,
    atHome: atHome ?? { entry: undefined, name: parseImage(image).name },
  };
}

type Change = Readonly<Record<string, string>>;

/** Takes the changed images that entries give, or that only an entry can change, out of what is wanted. */
export async function routeImages(job: Job): Promise<void> {
  const built = imageSlots(job.built);
  for (const [key, { path, image }] of imageSlots(job.wanted)) {
    const before = built.get(key);
    if (before === undefined || before.image === image) continue;
    const way = followImage(job, key);
    if (way === undefined || way.image !== before.image) continue;
    const isRouted = await routeOne(job, way, parseImage(before.image), parseImage(image));
    if (isRouted) job.wanted = setAt(job.wanted, path, before.image);
  }
}

async function routeOne(job: Job, way: Way, have: ImageReference, want: ImageReference): Promise<boolean> {
  const nameChange = have.name === want.name ? undefined : { newName: want.name };
  const isVersion = have.tag !== want.tag || have.digest !== want.digest;
  const versionChange = isVersion ? { newTag: want.tag, digest: want.digest } : undefined;
  // No entry can say "no tag".
  if (isVersion && want.tag === '' && want.digest === '' && way.version !== undefined) return false;
  const inSource = job.canWriteStated(way.stated.patch);
  const leftToSource = {
    name: nameChange !== undefined && way.name === undefined && inSource,
    version: isVersion && way.version === undefined && inSource,
  };
  const isAllInSource =
    (nameChange === undefined || leftToSource.name) && (versionChange === undefined || leftToSource.version);
  const isPlain = way.name === undefined && way.version === undefined;
  if (isAllInSource && isPlain) return false;
  if (nameChange !== undefined && !leftToSource.name && !(await give(job, way, way.name, nameChange)))
    return false;
  if (
    versionChange !== undefined &&
    !leftToSource.version &&
    !(await give(job, way, way.version, versionChange))
  )
    return false;
  if (!leftToSource.name && !leftToSource.version) return true;
  const stated = parseImage(way.stated.slot.image);
  const composed = printImage({
    name: leftToSource.name ? want.name : stated.name,
    tag: leftToSource.version ? want.tag : stated.tag,
    digest: leftToSource.version ? want.digest : stated.digest,
  });
  return await job.setStated(way.stated.patch, way.stated.slot.path, composed);
}

/** Sets the part on the entry that gives it, or on one of the home layer where that entry is not ours to write. */
async function give(job: Job, way: Way, supplier: Supplier | undefined, change: Change): Promise<boolean> {
  if (supplier !== undefined && job.canWrite(supplier.layer.node.file)) {
    const entry = supplier.layer.kustomization.images[supplier.index];
    if (entry !== undefined)
      return await set(job, supplier.layer, withImage(supplier.index, entry.name, change));
  }
  if (job.home === undefined) return false;
  const { entry: index, name } = way.atHome;
  const known = index === undefined ? undefined : job.home.kustomization.images[index]?.name;
  return await set(job, job.home, withImage(index, known ?? name, change));
}

async function set(job: Job, layer: Layer, change: (value: JsonObject) => JsonObject): Promise<boolean> {
  return (await editKustomization(job.files, layer.node.file, change)).ok;
}
