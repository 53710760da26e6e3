/**
 * The table of server defaults, indexed: which rules speak about a path of a kind.
 *
 * A rule belongs to a kind (`apps/v1/Deployment`), to a part that sits in several kinds (`PodSpec`), or to every object
 * (`*`). In the table, paths have dots between steps, `[]` for a list item, `*` for any map key, `~` for a dot inside a key.
 */
import { parseApiVersion } from '../../identity.ts';
import type { Json, Path } from '../../json.ts';
import { type RawCondition, type RawRule, defaultsTable as table } from './table.ts';

/** A step of a table path: a map key, any list item, or any map key. */
export type Step = string | typeof anyItem | typeof anyKey;
export const anyItem = Symbol('[]');
export const anyKey = Symbol('*');

export interface Condition {
  readonly at: readonly Step[];
  readonly in: 'live' | 'document';
  readonly set?: boolean;
  readonly stated?: true;
  readonly is?: readonly Json[];
  readonly not?: readonly Json[];
}

/** Why a field is there though the document does not state it. */
export interface Rule {
  readonly why: 'default' | 'computed' | 'allocated' | 'controller';
  /** The one value the server fills in. */
  readonly is?: Json;
  readonly oneOf?: readonly Json[];
  /** The calculation that gives the value, and the path it starts from. */
  readonly by?: string;
  readonly from?: readonly Step[];
  readonly if: readonly Condition[];
  /** Stated values that the server replaces by this one. */
  readonly replaces: readonly Json[];
  /** Decided once: the value that the document before the edit leads to is not an edit either, nor need an older one be. */
  readonly sticky: boolean;
  /** Depends on the cluster, so a live object without a document keeps it. */
  readonly stated: boolean;
  /** Whatever the document states is replaced. */
  readonly overwrites: boolean;
}

/** What becomes of a stated value: `gone`, `time`, `base64`, `stringData`, `emptyText`. */
export interface Fate {
  readonly vanish: readonly Json[];
  readonly rewritten: readonly string[];
}

/** A rule that speaks about a path; its own paths start at `base` steps into the object. */
export interface Match {
  readonly rule: Rule;
  readonly base: number;
}

interface Node {
  readonly keys: Map<string, Node>;
  item: Node | undefined;
  any: Node | undefined;
  readonly rules: Rule[];
  readonly vanish: Json[];
  readonly rewritten: string[];
  /** Parts that begin here. */
  readonly parts: Node[];
  /** There are rules here or further in. */
  speaks: boolean;
}

/** Where the rules of one kind begin. */
export interface RuleIndex {
  readonly roots: readonly Node[];
}

interface Reached {
  readonly node: Node;
  readonly base: number;
}

const owners: ReadonlyMap<string, Node> = index();
const kindsByGroup: ReadonlyMap<string, Node> = groupIndex();

/** The rules of a kind; a version the table lacks takes the rules of another version of the kind. */
export function rulesOf(apiVersion: string, kind: string): RuleIndex & { readonly known: boolean } {
  const everywhere = owners.get('*');
  const own =
    owners.get(`${apiVersion}/${kind}`) ?? kindsByGroup.get(`${parseApiVersion(apiVersion).group}/${kind}`);
  const roots = [own, everywhere].filter((node) => node !== undefined);
  return { roots, known: own !== undefined };
}

/** The rules at a path, and for each ancestor of it the rules there: element i belongs to the first i steps. */
export function matchesAlong(rules: RuleIndex, path: Path): (readonly Match[])[] {
  return walk(rules, path).map(matchesAt);
}

/** Whether no rule speaks about the place, about anything in it, or about what it stands in (the whole object aside). */
export function isSilent(rules: RuleIndex, path: Path): boolean {
  const along = walk(rules, path);
  const isAroundSpoken = along.some(
    (reached, depth) => depth > 0 && reached.some(({ node }) => node.rules.length > 0),
  );
  return !isAroundSpoken && (along[path.length] ?? []).every(({ node }) => !node.speaks);
}

const noMatches: readonly Match[] = [];

/** Asked for every field of every object, and most have no rule. */
function matchesAt(reached: readonly Reached[]): readonly Match[] {
  if (reached.every(({ node }) => node.rules.length === 0)) return noMatches;
  return reached.flatMap(({ node, base }) => node.rules.map((rule) => ({ rule, base })));
}

/** What becomes of a value that the document states at the path. */
export function fateAt(rules: RuleIndex, path: Path): Fate {
  const reached = walk(rules, path).at(path.length) ?? [];
  return {
    vanish: reached.flatMap(({ node }) => node.vanish),
    rewritten: reached.flatMap(({ node }) => node.rewritten),
  };
}

/** The steps of a table path. */
export function parseSteps(text: string): Step[] {
  if (text === '') return [];
  return text.split('.').flatMap((part) => {
    const items = part.match(/(?:\[\])+$/)?.[0].length ?? 0;
    const key = part.slice(0, part.length - items).replaceAll('~', '.');
    const first: Step = key === '*' ? anyKey : key;
    return [first, ...Array.from({ length: items / 2 }, (): Step => anyItem)];
  });
}

function walk(rules: RuleIndex, path: Path): (readonly Reached[])[] {
  let reached = withParts(
    rules.roots.map((node) => ({ node, base: 0 })),
    0,
  );
  const along = [reached];
  for (const [depth, step] of path.entries()) {
    const next: Reached[] = [];
    for (const at of reached) addNext(next, at, step);
    reached = withParts(next, depth + 1);
    along.push(reached);
    if (reached.length === 0) break;
  }
  return along;
}

function addNext(found: Reached[], { node, base }: Reached, step: string | number): void {
  if (typeof step === 'number') {
    if (node.item !== undefined) found.push({ node: node.item, base });
    return;
  }
  const own = node.keys.get(step);
  if (own !== undefined) found.push({ node: own, base });
  if (node.any !== undefined) found.push({ node: node.any, base });
}

/** Adds the parts that begin at these nodes. */
function withParts(reached: Reached[], depth: number): readonly Reached[] {
  // The list grows while it is read, because a part may begin with another part.
  for (let at = 0; at < reached.length; at += 1) {
    for (const node of reached[at]?.node.parts ?? []) reached.push({ node, base: depth });
  }
  return reached;
}

function index(): Map<string, Node> {
  const found = new Map<string, Node>();
  const ownerNode = (name: string): Node => {
    const node = found.get(name) ?? newNode();
    found.set(name, node);
    return node;
  };
  for (const [part, mounts] of Object.entries(table.parts)) {
    for (const mount of mounts) {
      const [owner = '', path = ''] = mount.split(' ');
      nodeAt(ownerNode(owner), path).parts.push(ownerNode(part));
    }
  }
  for (const [owner, rules] of Object.entries(table.rules)) {
    for (const [path, list] of Object.entries(rules)) {
      nodeAt(ownerNode(owner), path).rules.push(...list.map(readRule));
    }
  }
  for (const [owner, paths] of Object.entries(table.vanish)) {
    for (const [path, values] of Object.entries(paths)) nodeAt(ownerNode(owner), path).vanish.push(...values);
  }
  for (const [owner, paths] of Object.entries(table.rewritten)) {
    for (const [path, names] of Object.entries(paths))
      nodeAt(ownerNode(owner), path).rewritten.push(...names);
  }
  markSpeaking([...found.values()]);
  return found;
}

/** A part may sit inside itself, so this is repeated until nothing changes. */
function markSpeaking(roots: readonly Node[]): void {
  const nodes = new Set(roots);
  // The set grows while it is read.
  for (const node of nodes) for (const inner of insideOf(node)) nodes.add(inner);
  for (let grows = true; grows; ) {
    grows = false;
    for (const node of [...nodes].reverse()) {
      if (node.speaks || (node.rules.length === 0 && !insideOf(node).some(({ speaks }) => speaks))) continue;
      node.speaks = true;
      grows = true;
    }
  }
}

function insideOf({ keys, item, any, parts }: Node): Node[] {
  return [...keys.values(), ...(item ? [item] : []), ...(any ? [any] : []), ...parts];
}

function groupIndex(): Map<string, Node> {
  const found = new Map<string, Node>();
  for (const [owner, node] of owners) {
    const [kind = '', ...version] = owner.split('/').reverse();
    if (version.length > 0) found.set(`${parseApiVersion(version.reverse().join('/')).group}/${kind}`, node);
  }
  return found;
}

function newNode(): Node {
  return {
    keys: new Map(),
    item: undefined,
    any: undefined,
    rules: [],
    vanish: [],
    rewritten: [],
    parts: [],
    speaks: false,
  };
}

function nodeAt(root: Node, path: string): Node {
  let node = root;
  for (const step of parseSteps(path)) node = child(node, step);
  return node;
}

function child(node: Node, step: Step): Node {
  if (step === anyItem) {
    node.item ??= newNode();
    return node.item;
  }
  if (step === anyKey) {
    node.any ??= newNode();
    return node.any;
  }
  const made = node.keys.get(step) ?? newNode();
  node.keys.set(step, made);
  return made;
}

function readRule(raw: RawRule): Rule {
  return {
    why: raw.why ?? 'default',
    ...(raw.is === undefined ? {} : { is: raw.is }),
    ...(raw.oneOf === undefined ? {} : { oneOf: raw.oneOf }),
    ...(raw.by === undefined ? {} : { by: raw.by }),
    ...(raw.from === undefined ? {} : { from: parseSteps(raw.from) }),
    if: (raw.if ?? []).map(readCondition),
    replaces: raw.replaces ?? [],
    sticky: raw.sticky ?? false,
    stated: raw.stated ?? false,
    overwrites: raw.overwrites ?? false,
  };
}

function readCondition({ at, ...test }: RawCondition): Condition {
  return { at: parseSteps(at), ...test };
}
