/** Kind definition -> CustomResourceDefinition. */
import { stringify } from 'yaml';
import type { Column, ImmutableField, KindDefinition } from './definition.ts';
import { apiGroup, apiVersionName } from './group.ts';
import { kinds } from './kinds.ts';
import { type StructuralSchema, structuralSchema } from './structural.ts';

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames: readonly string[];
    };
    scope: 'Namespaced' | 'Cluster';
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      subresources: { status: Record<string, never> };
      additionalPrinterColumns: PrinterColumn[];
      schema: { openAPIV3Schema: StructuralSchema };
    }[];
  };
}

interface PrinterColumn extends Column {
  readonly priority?: number;
}

export function crd(definition: KindDefinition): CustomResourceDefinition {
  const { kind, singular, plural, shortNames, scope } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames },
      scope,
      versions: [
        {
          name: apiVersionName,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns(definition),
          schema: { openAPIV3Schema: objectSchemaOf(definition) },
        },
      ],
    },
  };
}

/** File name and text of one CRD. */
export function crdFile(definition: KindDefinition): { name: string; text: string } {
  return { name: `${apiGroup}_${definition.plural}.yaml`, text: toYaml(crd(definition)) };
}

/** All CRDs as one YAML stream. */
export function allCrds(): string {
  return kinds.map((definition) => `---\n${toYaml(crd(definition))}`).join('');
}

/** The schema of spec and status, with the rules that compare old and new. */
export function objectSchemaOf(definition: KindDefinition): StructuralSchema {
  const { spec, status } = definition.schema.shape;
  const specSchema = structuralSchema(spec);
  const transitions = definition.immutable.map(immutabilityRule);
  const rules = [...(specSchema['x-kubernetes-validations'] ?? []), ...transitions];
  return {
    description: definition.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { ...specSchema, ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }) },
      status: structuralSchema(status),
    },
  };
}

export function immutabilityMessage({ field, instead }: ImmutableField): string {
  return `${field} cannot be changed: ${instead}`;
}

function immutabilityRule(immutable: ImmutableField) {
  const { field, optional } = immutable;
  const rule = optional
    ? `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`
    : `self.${field} == oldSelf.${field}`;
  return { rule, message: immutabilityMessage(immutable), fieldPath: `.${field}` };
}

export function printerColumns({ columns, conditions }: KindDefinition): PrinterColumn[] {
  const others = Object.keys(conditions).filter((type) => type !== 'Ready');
  const ready: PrinterColumn[] = [
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready', 'status') },
    { name: 'Reason', type: 'string', jsonPath: conditionPath('Ready', 'reason') },
    { name: 'Message', type: 'string', jsonPath: conditionPath('Ready', 'message'), priority: 1 },
  ];
  return [
    ...columns.map((column) => ({ ...column })),
    ...(Object.hasOwn(conditions, 'Ready') ? ready : []),
    ...others.map((type) => ({
      name: type,
      type: 'string' as const,
      jsonPath: conditionPath(type, 'status'),
      priority: 1,
    })),
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ];
}

function conditionPath(type: string, field: 'status' | 'reason' | 'message'): string {
  return `.status.conditions[?(@.type=="${type}")].${field}`;
}

function toYaml(value: unknown): string {
  // compat quotes words that YAML 1.1 readers, kubectl among them, take for booleans or numbers.
  return stringify(value, { lineWidth: 0, compat: 'yaml-1.1', aliasDuplicateObjects: false });
}
