/** What `plan` reads of a GitTarget: where new documents go, and what a delete may remove. */
import { z } from 'zod';
import { type PlacementSpec, validatePlacement } from '../core/folder/index.ts';
import type { PruneMode } from '../core/plan/index.ts';
import { isRecipient } from '../core/sealed/index.ts';
import { BadInput } from './bad-input.ts';
import { readValues } from './plan-objects.ts';

export interface TargetSettings {
  readonly placement: PlacementSpec;
  readonly serializeNamespace?: boolean;
  readonly prune: PruneMode;
  /** Globs of managers whose fields are no edits. */
  readonly ignoreManagers: readonly string[];
  /** age public keys of `encryption`. Its Secret cannot be read here. */
  readonly recipients: readonly string[];
}

export const defaultTarget: TargetSettings = {
  placement: {},
  prune: 'OnEvent',
  ignoreManagers: [],
  recipients: [],
};

/** Only the fields that decide something here; the rest is the API server's to check. */
const schema = z.object({
  apiVersion: z.string().regex(/^configbutler\.ai\//, 'is not of the group configbutler.ai'),
  kind: z.literal('GitTarget'),
  spec: z.object({
    placement: z
      .object({
        byType: z.record(z.string(), z.string()).optional(),
        default: z.string().optional(),
        useKustomize: z.boolean().optional(),
      })
      .optional(),
    serializeNamespace: z.boolean().optional(),
    prune: z.object({ mode: z.enum(['Never', 'OnEvent', 'Always']).optional() }).optional(),
    ignoreManagers: z.array(z.string()).optional(),
    encryption: z
      .object({
        age: z
          .object({
            enabled: z.boolean().optional(),
            recipients: z.object({ publicKeys: z.array(z.string()).optional() }).optional(),
          })
          .optional(),
      })
      .optional(),
  }),
});

/** Reads a GitTarget from a file. Throws BadInput naming file, field and reason. */
export async function readTarget(file: string): Promise<TargetSettings> {
  const values = await readValues(file);
  if (values.length !== 1)
    throw new BadInput(`${file}: holds ${values.length} documents, expected one GitTarget`);
  const parsed = schema.safeParse(values[0]);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new BadInput(`${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a GitTarget'}`);
  }
  const { spec } = parsed.data;
  const age = spec.encryption?.age;
  const recipients = (age?.enabled === true ? age.recipients?.publicKeys : undefined) ?? [];
  if (!recipients.every(isRecipient))
    throw new BadInput(`${file}: spec.encryption.age.recipients.publicKeys: not an age recipient (age1...)`);
  const placement: PlacementSpec = {
    ...(spec.placement?.byType === undefined ? {} : { byType: spec.placement.byType }),
    ...(spec.placement?.default === undefined ? {} : { default: spec.placement.default }),
    ...(spec.placement?.useKustomize === undefined ? {} : { useKustomize: spec.placement.useKustomize }),
  };
  const [problem] = validatePlacement(placement);
  if (problem !== undefined) throw new BadInput(`${file}: spec.${problem}`);
  return {
    placement,
    ...(spec.serializeNamespace === undefined ? {} : { serializeNamespace: spec.serializeNamespace }),
    prune: spec.prune?.mode ?? 'OnEvent',
    ignoreManagers: spec.ignoreManagers ?? [],
    recipients,
  };
}
