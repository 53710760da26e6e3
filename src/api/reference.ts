/** Kind definition -> reference page in Markdown: the intro by hand, everything else from the schema and the tables. */
import { type Json, printJson } from '../core/json.ts';
import type { ConditionActor, ConditionRow, ConditionTable } from './conditions.ts';
import { immutabilityMessage, objectSchemaOf, printerColumns } from './crd.ts';
import type { KindDefinition } from './definition.ts';
import { apiVersion } from './group.ts';
import type { StructuralSchema } from './structural.ts';

/** File name and text of the page of one kind. */
export function referencePage(definition: KindDefinition): { name: string; text: string } {
  const { kind, plural, shortNames, scope, intro, conditions } = definition;
  const { spec, status } = objectSchemaOf(definition).properties ?? {};
  const parts = [
    `# ${kind}`,
    '<!-- Generated from src/api by `make generate`. -->',
    intro,
    `\`${apiVersion}\`, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}; \`kubectl get ${plural}\`, short ${shortNames.map(code).join(', ')}. See the [sample](../../manifests/samples/${definition.singular}.yaml).`,
    '## Spec',
    fieldTable(spec),
    ...unchangeable(definition),
    '## Status',
    fieldTable(status),
    ...conditionTables(conditions),
    '## Columns',
    columnTable(definition),
  ];
  return { name: `${definition.singular}.md`, text: `${parts.join('\n\n')}\n` };
}

interface FieldRow {
  readonly name: string;
  readonly schema: StructuralSchema;
  readonly required: boolean;
}

function fieldTable(schema: StructuralSchema | undefined): string {
  const rules = (schema?.['x-kubernetes-validations'] ?? [])
    .filter(({ rule }) => !rule.includes('oldSelf'))
    .map(({ message }) => sentence(message));
  const rows = schema === undefined ? [] : fieldsOf(schema, '');
  const tableText = table(
    ['Field', 'Type', 'Default', 'Meaning', 'Validation'],
    rows.map(({ name, schema: field, required }) => [
      code(name),
      typeOf(field),
      required ? 'required' : defaultOf(field),
      field.description ?? '',
      validationOf(field),
    ]),
  );
  return rules.length === 0 ? tableText : `${tableText}\n\n${rules.join(' ')}`;
}

function fieldsOf(schema: StructuralSchema, prefix: string): FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    const own = { name, schema: field, required: schema.required?.includes(key) ?? false };
    // The shape of a condition is Kubernetes' own.
    if (name === 'conditions') return [own];
    const inner = field.items === undefined ? field : field.items;
    return [own, ...fieldsOf(inner, field.items === undefined ? name : `${name}[]`)];
  });
}

function typeOf(schema: StructuralSchema): string {
  if (schema.items !== undefined) return `list of ${plural(typeOf(schema.items))}`;
  if (schema.additionalProperties !== undefined) return `map to ${typeOf(schema.additionalProperties)}`;
  if (schema.format === 'date-time') return 'time';
  return schema.type;
}

function plural(type: string): string {
  return type.includes(' ') ? type : `${type}s`;
}

function defaultOf({ default: value }: StructuralSchema): string {
  // The default of an object follows from the defaults of its fields.
  if (value === undefined || isContainer(value)) return '';
  return code(typeof value === 'string' ? value : printJson(value));
}

function isContainer(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  return (
    !Array.isArray(value) &&
    Object.values(value).some((member) => typeof member !== 'string' || member === '')
  );
}

function validationOf(schema: StructuralSchema): string {
  const { items } = schema;
  const own = [
    ...(schema.enum === undefined ? [] : [schema.enum.map(code).join(', ')]),
    ...range('characters', schema.minLength, schema.maxLength),
    ...range('', schema.minimum, schema.maximum),
    ...range('items', schema.minItems, schema.maxItems),
    ...range('entries', undefined, schema.maxProperties),
    ...(schema.pattern === undefined ? [] : [`matches ${code(schema.pattern)}`]),
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
  ];
  const each = items === undefined || items.type === 'object' ? '' : validationOf(items);
  return [...own, ...(each === '' ? [] : [`each: ${each}`])].join('; ');
}

function range(unit: string, least: number | undefined, most: number | undefined): string[] {
  const named = unit === '' ? '' : ` ${unit}`;
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${named}`];
  if (most !== undefined) return [`at most ${most}${named}`];
  return least === undefined ? [] : [`at least ${least}${named}`];
}

function unchangeable({ immutable }: KindDefinition): string[] {
  if (immutable.length === 0) return [];
  return [
    `Not changeable once set:\n\n${immutable.map((field) => `- ${immutabilityMessage(field)}`).join('\n')}`,
  ];
}

const actors: Readonly<Record<ConditionActor, string>> = {
  nobody: '',
  sidecar: 'passes by itself',
  'platform-operator': 'platform operator',
  'repository-author': 'repository author',
};

function conditionTables(conditions: ConditionTable): string[] {
  if (Object.keys(conditions).length === 0) return [];
  return [
    '## Conditions and reasons',
    'Ready has the reason of the condition that decides it. The last column says who acts.',
    ...Object.entries(conditions).map(([type, row]) => conditionTable(type, row)),
  ];
}

function conditionTable(type: string, { meaning, beside, reasons }: ConditionRow): string {
  const heading = `### ${type}\n\n${meaning}${beside === true ? ' Told beside Ready, not part of it.' : ''}`;
  const rows = Object.entries(reasons).map(([reason, row]) => [
    row.status,
    code(reason),
    row.meaning,
    actors[row.actor],
  ]);
  return `${heading}\n\n${table(['Status', 'Reason', 'Meaning', 'Who acts'], rows)}`;
}

function columnTable(definition: KindDefinition): string {
  const rows = printerColumns(definition).map(({ name, jsonPath, priority, description = '' }) => [
    name,
    code(jsonPath),
    priority === undefined ? '' : '`-o wide`',
    description,
  ]);
  return table(['Column', 'From', 'Shown with', 'Meaning'], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
