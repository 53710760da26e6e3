/**
 * The calculations a rule can name: is the live value the one the server works out for this object?
 */
import { equalJson, isObject, type Json, type Path, valueAt } from '../../json.ts';
import { type Context, objectAt, readBefore, readDocument, readLive } from './context.ts';
import { pullPolicyOf } from './image.ts';
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from './quantity.ts';
import type { Match, Step } from './rules.ts';

/** What a calculation may ask about the object. */
interface Questions {
  equal(a: Json, b: Json): boolean;
  /** Is the live value at that path the server's as well? */
  isExplained(path: Path, value: Json): boolean;
}

type Derivation = (context: Context, match: Match, questions: Questions) => boolean;

/** Rule name -> calculation. */
export const derivations: Readonly<Record<string, Derivation>> = {
  copy: isCopy,
  twin: isTwin,
  imagePullPolicy: isPullPolicy,
  emptyVolume: isEmptyVolume,
  tokenVolume: (context) => isTokenVolume(context.value),
  tokenMount: (context) => isTokenMount(context.value),
  tokenKey: (context) => ['token', 'namespace', 'ca.crt'].includes(String(context.path.at(-1))),
  limitAsRequest: (context) => sameAmount(context.value, limitBeside(context)),
  podRequest: isPodRequest,
  policyTypes: isPolicyTypes,
  limitDefault: (context) => sameAmount(context.value, limitOf(context, 'max')),
  limitDefaultRequest: isDefaultRequest,
  stringData: isStringData,
  crdSingular: (context) => context.value === kindName(context).toLowerCase(),
  crdListKind: (context) => context.value === `${kindName(context)}List`,
  matchedLabel: (context) => isLabelExpression(context, 'matchLabelKeys', 'In'),
  mismatchedLabel: (context) => isLabelExpression(context, 'mismatchLabelKeys', 'NotIn'),
  listOf: (context, match) => isListOf(context, match),
  address: (context) => context.value !== 'None' && context.value !== '',
  ipFamilyPolicy: isFamilyPolicy,
  generatedName: isGeneratedName,
  counter: (context) => typeof context.value === 'string' && /^\d+$/.test(context.value),
};

function documentValue(context: Context, { rule, base }: Match): Json | undefined {
  return readDocument(context, base, rule.from ?? [])?.value;
}

function equalValue(a: Json | undefined, b: Json | undefined): boolean {
  return a !== undefined && b !== undefined && equalJson(a, b);
}

/** Equal to what the document states at the source, or to a live source that is the server's as well. */
function isCopy(context: Context, { rule, base }: Match, questions: Questions): boolean {
  const reading = readDocument(context, base, rule.from ?? []);
  if (reading === undefined) return false;
  if (reading.value !== undefined && reading.value !== null)
    return questions.equal(context.value, reading.value);
  const source = valueAt(context.live, reading.livePath);
  if (source === undefined || !questions.equal(context.value, source)) return false;
  return questions.isExplained(reading.livePath, source);
}

/** Two names of one field: the one that the document itself states explains the other. */
function isTwin(context: Context, { rule, base }: Match, questions: Questions): boolean {
  const reading = readDocument(context, base, rule.from ?? []);
  if (reading?.of !== 'document' || reading.value === undefined || reading.value === null) return false;
  return questions.equal(context.value, reading.value);
}

function isPullPolicy(context: Context, match: Match): boolean {
  if (context.value === pullPolicyOf(documentValue(context, match))) return true;
  if (!match.rule.sticky) return false;
  const earlier = readBefore(context, match.base, match.rule.from ?? []);
  return earlier !== undefined && context.value === pullPolicyOf(earlier);
}

/** A volume that names no source is an emptyDir. */
function isEmptyVolume(context: Context): boolean {
  const volume = valueAt(context.live, context.path.slice(0, -1));
  return (
    isObject(context.value) &&
    Object.keys(context.value).length === 0 &&
    isObject(volume) &&
    Object.keys(volume).length <= 2
  );
}

const tokenVolume: Json = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
      },
    },
  ],
};

function isTokenVolume(value: Json): boolean {
  return isObject(value) && isTokenName(value.name) && equalJson(value.projected, tokenVolume);
}

function isTokenMount(value: Json): boolean {
  const mount = { name: '', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  return isObject(value) && isTokenName(value.name) && equalJson({ ...value, name: '' }, mount);
}

function isTokenName(name: Json | undefined): boolean {
  return typeof name === 'string' && /^kube-api-access-[a-z0-9]{5}$/.test(name);
}

function sameAmount(a: Json | undefined, b: Json | undefined): boolean {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
}

/** `resources.limits.cpu` for `resources.requests.cpu`. */
function limitBeside(context: Context): Json | undefined {
  const name = context.path.at(-1) ?? '';
  return valueAt(context.live, [...context.path.slice(0, -2), 'limits', name]);
}

/** Pod level: the sum of what the containers ask for, else the pod's own limit. */
function isPodRequest(context: Context): boolean {
  const name = String(context.path.at(-1));
  const spec = objectAt(context.live.spec);
  const containers = Array.isArray(spec.containers) ? spec.containers : [];
  const amounts = containers
    .map((container) => parseQuantity(valueAt(container, ['resources', 'requests', name])))
    .filter((amount) => amount !== undefined);
  if (amounts.length === 0) return sameAmount(context.value, limitBeside(context));
  const total = amounts.reduce<Quantity>(addQuantities, { numerator: 0n, denominator: 1n });
  const own = parseQuantity(context.value);
  return own !== undefined && compareQuantities(own, total) === 0;
}

/** Ingress, and Egress when the document has an egress rule. */
function isPolicyTypes(context: Context): boolean {
  const egress = readDocument(context, 0, ['spec', 'egress'])?.value;
  const types = Array.isArray(egress) && egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  // Of an item the whole list is asked: one type alone says nothing.
  return equalValue(valueAt(context.live, ['spec', 'policyTypes']), types);
}

/** The same resource under another key of the same limit. */
function limitOf(context: Context, key: string): Json | undefined {
  const resource = context.path.at(-1) ?? '';
  const steps: Step[] = [key, String(resource)];
  return readDocument(context, context.path.length - 2, steps)?.value;
}

function isDefaultRequest(context: Context): boolean {
  const source = limitOf(context, 'default') ?? limitOf(context, 'max') ?? limitOf(context, 'min');
  return sameAmount(context.value, source);
}

function isStringData(context: Context): boolean {
  const text = objectAt(context.document.stringData)[String(context.path.at(-1))];
  return typeof text === 'string' && context.value === encodeBase64(text);
}

export function encodeBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function kindName(context: Context): string {
  return String(readDocument(context, 0, ['spec', 'names', 'kind'])?.value ?? '');
}

/** `{key, operator, values: [the pod's label]}` for a key that the term lists. */
function isLabelExpression(context: Context, listName: string, operator: string): boolean {
  const value = context.value;
  if (!isObject(value) || value.operator !== operator || typeof value.key !== 'string') return false;
  const term = valueAt(context.live, context.path.slice(0, -3));
  const keys = isObject(term) ? term[listName] : undefined;
  const label = objectAt(objectAt(context.live.metadata).labels)[value.key];
  return (
    Array.isArray(keys) &&
    keys.includes(value.key) &&
    equalValue(value.values, label === undefined ? undefined : [label])
  );
}

/** A list whose first item is the scalar field of the same meaning. */
function isListOf(context: Context, { rule, base }: Match): boolean {
  const single =
    readDocument(context, base, rule.from ?? [])?.value ?? readLive(context, base, rule.from ?? []);
  return Array.isArray(context.value) && context.value.length > 0 && equalValue(context.value[0], single);
}

/** Two families are only chosen for a headless Service that selects nothing, or when the document names both. */
function isFamilyPolicy(context: Context): boolean {
  if (context.value === 'SingleStack') return true;
  if (context.value !== 'RequireDualStack') return false;
  const spec = objectAt(context.live.spec);
  const document = objectAt(context.document.spec);
  return (
    (spec.clusterIP === 'None' && Object.keys(objectAt(spec.selector)).length === 0) ||
    hasTwo(document.ipFamilies) ||
    hasTwo(document.clusterIPs)
  );
}

function hasTwo(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 2;
}

function isGeneratedName(context: Context): boolean {
  const prefix = objectAt(context.document.metadata).generateName;
  return typeof prefix === 'string' && typeof context.value === 'string' && context.value.startsWith(prefix);
}
