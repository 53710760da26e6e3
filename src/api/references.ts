/** References to other objects and the names they hold. A reference says the name only; its field says the kind. */
import * as z from 'zod';
import { matching, withRules } from './rules.ts';

const dnsLabelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function objectName(description: string) {
  return z.string().min(1).max(253).describe(description);
}

export function subdomain(description: string) {
  return z.string().max(253).regex(subdomainPattern, 'must be a DNS subdomain').describe(description);
}

export function namespaceName(description: string) {
  return z.string().max(63).regex(dnsLabelPattern, 'must be a DNS label').describe(description);
}

/** A namespace, or `*` for all of them. */
export function namespaceOrAll(description: string) {
  return z
    .string()
    .max(63)
    .regex(/^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$/, 'must be a namespace or *')
    .describe(description);
}

/** A reference to an object of the same namespace, or of cluster scope. */
export function nameReference(description: string, nameDescription: string) {
  return z
    .object({ name: objectName(nameDescription) })
    .describe(description)
    .meta({ 'x-kubernetes-map-type': 'atomic' });
}

export function secretReference(description: string) {
  return nameReference(description, 'Name of the Secret, in the namespace of this object.');
}

/** One branch by its short name, as `git branch` shows it. */
export function branchName(description: string) {
  return withRules(z.string().min(1).max(255).describe(description), [
    matching(
      /^[^\x00-\x20\x7f~^:?*[\\]+$/,
      'must be a branch name without whitespace or any of ~ ^ : ? * [ \\',
    ),
    {
      cel: "self != 'HEAD' && !self.startsWith('refs/')",
      message: 'must be a short branch name such as main, not HEAD and not refs/...',
      holds: (value) => value !== 'HEAD' && !value.startsWith('refs/'),
    },
    {
      cel: "!self.contains('..') && !self.contains('//') && !self.contains('@{') && !self.matches('(^|/)[.]|^[-/@]$|^[-/]|[/.]$|[.]lock(/|$)')",
      message: 'must be a name git accepts for a branch',
      holds: (value) =>
        !['..', '//', '@{'].some((part) => value.includes(part)) &&
        !/(^|\/)[.]|^[-/@]$|^[-/]|[/.]$|[.]lock(\/|$)/.test(value),
    },
  ]);
}
