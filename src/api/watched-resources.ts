/** The part of a rule that says which resources it selects; shared by WatchRule and ClusterWatchRule. */
import * as z from 'zod';
import { labelSelector } from './selector.ts';

export const maxRules = 64;

export const watchedResources = {
  apiGroups: z
    .array(
      z
        .string()
        .max(253)
        .regex(/^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/, 'must be an API group, "" for the core group, or *')
        .describe('An API group; `""` is the core group, `*` all.'),
    )
    .max(64)
    .optional()
    .describe('API groups. Default: the one group that serves the resource.'),
  apiVersions: z
    .array(
      z
        .string()
        .max(63)
        .regex(/^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$/, 'must be an API version without its group, or *')
        .describe('An API version without its group; `*` is every served one.'),
    )
    .max(64)
    .optional()
    .describe('API versions. Default: the preferred one.'),
  resources: z
    .array(
      z
        .string()
        .max(63)
        .regex(
          /^(\*|[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)$/,
          'must be a plural resource name or *; no subresources and no other wildcards',
        )
        .describe('Plural name of a resource, or `*`.'),
    )
    .min(1)
    .max(256)
    .describe('Resources by their plural names.'),
  objectSelector: labelSelector(
    'Labels of the selected objects. Default: every object. An object that no longer matches counts as removed.',
  ).optional(),
} as const;
