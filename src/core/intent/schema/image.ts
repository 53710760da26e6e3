/**
 * The pull policy a server chooses for an image: Always for the tag `latest` or for no tag and no digest, else IfNotPresent.
 * Text that is no image reference (a variable, upper case in the name) gets IfNotPresent.
 */
import type { Json } from '../../json.ts';

const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const domainPart = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `(?:${domainPart}(?:\\.${domainPart})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?`;
const tag = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const image = new RegExp(`^((?:${domain}/)?${component}(?:/${component})*)(?::(${tag}))?(?:@(${digest}))?$`);
/** Longer names are refused by the server; the bound also keeps the expression cheap. */
const longestName = 255;
const longest = 1024;

export function pullPolicyOf(reference: Json | undefined): 'Always' | 'IfNotPresent' {
  if (typeof reference !== 'string' || reference.length > longest) return 'IfNotPresent';
  const match = image.exec(reference);
  if (match === null) return 'IfNotPresent';
  const [, name = '', imageTag, imageDigest] = match;
  if (name.length > longestName || /^[0-9a-f]{64}$/.test(name)) return 'IfNotPresent';
  if (imageTag === 'latest') return 'Always';
  return imageTag === undefined && imageDigest === undefined ? 'Always' : 'IfNotPresent';
}
