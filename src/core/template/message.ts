/** Commit messages: the data templates see, the built-in templates, and the check of a GitTarget's own ones. */
import { parseTemplate, renderTemplate, type Template } from './index.ts';
import { compareText, type TemplateRecord, type TemplateValue, textMap } from './value.ts';

export interface LiveWindowData {
  /** User name as the API server knows it; empty when nobody is known. */
  readonly author: string;
  /** Name of the GitTarget. */
  readonly gitTarget: string;
  /** What the commit holds, in order. */
  readonly resources: readonly MessageResource[];
}

export interface MessageResource {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly group: string;
  readonly version: string;
  /** Plural, as in the API path. */
  readonly resource: string;
  /** Empty for a delete. */
  readonly kind: string;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Empty for a delete. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A snapshot; what is absent was not limited to one. */
export interface ReconcileData {
  readonly gitTarget: string;
  readonly count: number;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
}

export interface Message {
  readonly text: string;
  /** Why the GitTarget's template could not be used and the built-in one was. */
  readonly problem?: string;
}

export interface MessageTemplates {
  readonly liveTemplate?: string | undefined;
  readonly reconcileTemplate?: string | undefined;
}

const clusterScope = '_cluster';

const defaultLiveTemplate = `chore: sync {{.Count}} {{if eq .Count 1}}resource{{else}}resources{{end}}
{{range .Resources}}
- [{{.Operation}}] {{.APIVersion}}/{{.Resource}}/{{.Namespace}}/{{.Name}}
{{- end}}
`;

const defaultReconcileTemplate =
  'chore: reconcile {{.Count}} {{if eq .Count 1}}resource{{else}}resources{{end}}' +
  '{{with .Namespace}} in {{.}}{{end}}{{with .ResourceVersion}} (last resourceVersion: {{.}}){{end}}\n';

const maxMessageBytes = 64 * 1024;
const cutNote = '\n(the message is cut at 64 KiB)\n';

/** The message of a window of live edits. A template that fails on this data gives the built-in message and the problem. */
export function liveMessage(template: Template | undefined, data: LiveWindowData): Message {
  return message(template, defaultLiveTemplate, liveValue(data));
}

/** The message of a snapshot. */
export function reconcileMessage(template: Template | undefined, data: ReconcileData): Message {
  return message(template, defaultReconcileTemplate, reconcileValue(data));
}

/** Problems of a GitTarget's message templates as sentences, found by rendering sample commits; empty when fine. */
export function validateMessageTemplates(templates: MessageTemplates): string[] {
  return [
    ...problemsOf('commit.message.liveTemplate', templates.liveTemplate, liveSamples.map(liveValue)),
    ...problemsOf(
      'commit.message.reconcileTemplate',
      templates.reconcileTemplate,
      reconcileSamples.map(reconcileValue),
    ),
  ];
}

function problemsOf(field: string, text: string | undefined, samples: readonly TemplateRecord[]): string[] {
  if (text === undefined) return [];
  const parsed = parseTemplate(text);
  if (!parsed.ok) return [`${field}: ${parsed.message}`];
  for (const sample of samples) {
    const rendered = renderTemplate(parsed.template, sample);
    if (!rendered.ok) return [`${field}: ${rendered.message}`];
    if (cleaned(rendered.text) === '') return [`${field}: it renders an empty message`];
  }
  return [];
}

function message(template: Template | undefined, fallback: string, data: TemplateRecord): Message {
  if (template === undefined) return { text: builtIn(fallback, data) };
  const rendered = renderTemplate(template, data);
  if (!rendered.ok) return { text: builtIn(fallback, data), problem: rendered.message };
  const text = cleaned(rendered.text);
  if (text === '') return { text: builtIn(fallback, data), problem: 'the template renders an empty message' };
  return { text: bounded(text) };
}

function builtIn(text: string, data: TemplateRecord): string {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error(`a built-in template cannot be read: ${parsed.message}`);
  const rendered = renderTemplate(parsed.template, data);
  if (!rendered.ok) throw new Error(`a built-in template cannot be rendered: ${rendered.message}`);
  return bounded(cleaned(rendered.text));
}

/** Git takes no NUL, and other control characters only confuse those who read the log. Ends with one line break. */
function cleaned(text: string): string {
  const body = text.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');
  const trimmed = body.replace(/^\n+/, '').trimEnd();
  return trimmed.trim() === '' ? '' : `${trimmed}\n`;
}

/** Cuts whole lines, so that the rest stays readable. */
function bounded(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxMessageBytes) return text;
  const kept = new TextDecoder().decode(bytes.subarray(0, maxMessageBytes - cutNote.length));
  const lineEnd = kept.lastIndexOf('\n');
  return `${lineEnd > 0 ? kept.slice(0, lineEnd) : kept}${cutNote}`;
}

/** What a live template sees. */
export function liveValue({ author, gitTarget, resources }: LiveWindowData): TemplateRecord {
  const operations = new Map<string, TemplateValue>();
  for (const { operation } of resources)
    operations.set(operation, Number(operations.get(operation) ?? 0) + 1);
  return {
    kind: 'record',
    fields: {
      Author: oneLine(author),
      GitTarget: gitTarget,
      Count: resources.length,
      Operations: { kind: 'map', entries: operations, zero: 0 },
      Resources: resources.map(resourceValue),
    },
    methods: {
      LabelValue: (key) => agreedLabel(resources, key),
      LabelValues: (key) => labelValues(resources, key),
    },
  };
}

function resourceValue(resource: MessageResource): TemplateRecord {
  const { group, version, name } = resource;
  const namespace = resource.namespace === '' ? clusterScope : resource.namespace;
  const place = [group, version, resource.resource, resource.namespace, name];
  return {
    kind: 'record',
    fields: {
      Operation: resource.operation,
      Group: group,
      Version: version,
      Resource: resource.resource,
      Kind: resource.kind,
      Namespace: namespace,
      Name: name,
      APIVersion: apiVersionOf(group, version),
      ResourceVersion: resource.resourceVersion,
      Labels: textMap(resource.labels),
    },
    methods: { Label: (key) => labelOf(resource, key) },
    text: place.filter((part) => part !== '').join('/'),
  };
}

function reconcileValue(data: ReconcileData): TemplateRecord {
  const { gitTarget, count, group = '', version = '', resource = '', namespace = '' } = data;
  return {
    kind: 'record',
    fields: {
      Count: count,
      GitTarget: gitTarget,
      Group: group,
      Version: version,
      Resource: resource,
      APIVersion: version === '' ? '' : apiVersionOf(group, version),
      Namespace: namespace,
      ResourceVersion: data.resourceVersion ?? '',
    },
  };
}

function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

function labelOf({ labels }: MessageResource, key: string): string {
  return Object.hasOwn(labels, key) ? (labels[key] ?? '') : '';
}

/** The value only if all resources agree on it. */
function agreedLabel(resources: readonly MessageResource[], key: string): string {
  const [first, ...others] = resources.map((resource) => labelOf(resource, key));
  return first !== undefined && others.every((value) => value === first) ? first : '';
}

function labelValues(resources: readonly MessageResource[], key: string): string[] {
  const values = new Set(resources.map((resource) => labelOf(resource, key)));
  values.delete('');
  return [...values].sort(compareText);
}

/** A user name is foreign text: it must not be able to add lines, and so trailers, to a message. */
function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f\u0085\u2028\u2029]+/g, ' ').trim();
}

const sampleDeployment: MessageResource = {
  operation: 'UPDATE',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  resourceVersion: '4711',
  labels: { app: 'web', team: 'shop' },
};

const sampleUnlabeled: MessageResource = {
  operation: 'CREATE',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'shop',
  name: 'settings',
  resourceVersion: '4712',
  labels: {},
};

const sampleDelete: MessageResource = {
  operation: 'DELETE',
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  kind: '',
  namespace: '',
  name: 'reader',
  resourceVersion: '4713',
  labels: {},
};

const liveSamples: readonly LiveWindowData[] = [
  { author: 'alice@example.com', gitTarget: 'live', resources: [sampleDeployment] },
  {
    author: 'alice@example.com',
    gitTarget: 'live',
    resources: [sampleDeployment, sampleUnlabeled, sampleDelete],
  },
  { author: '', gitTarget: 'live', resources: [sampleDeployment] },
  { author: '', gitTarget: 'live', resources: [sampleUnlabeled] },
  { author: 'alice@example.com', gitTarget: 'live', resources: [sampleDelete] },
];

const reconcileSamples: readonly ReconcileData[] = [
  {
    gitTarget: 'live',
    count: 2,
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    namespace: 'shop',
    resourceVersion: '4711',
  },
  { gitTarget: 'live', count: 1 },
];
