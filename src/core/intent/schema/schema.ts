/** Finds what we know about a kind. */
import { builtinCrds, type CrdSchemas, customType } from './crd.ts';
import { explain, isUnexplained, mayOutlive, unexplainedWithin } from './explain.ts';
import type { Facts, KindSchema } from './kind-schema.ts';
import { readsBack } from './reads-back.ts';
import { rulesOf } from './rules.ts';
import { builtinType, genericType, typeAt } from './types.ts';

/**
 * The schema of a kind: the built-in tables, else the schema of its CRD, else a permissive one that pairs lists by `name`
 * and compares everything exactly. Cheap enough to call per object.
 */
export function kindSchema(apiVersion: string, kind: string, crds?: CrdSchemas): KindSchema {
  const facts = factsOf(apiVersion, kind, crds);
  const schema: KindSchema = {
    listKeys: (path) => typeAt(facts.type, path)?.listKeys,
    keyDefaults: (path) => typeAt(facts.type, path)?.keyDefaults ?? {},
    isSet: (path) => typeAt(facts.type, path)?.set ?? false,
    isAtomicMap: (path) => typeAt(facts.type, path)?.atomic ?? false,
    isMap: (path) => typeAt(facts.type, path)?.map ?? false,
    meaning: (path) => typeAt(facts.type, path)?.meaning ?? 'exact',
    explain: (field) => explain(facts, schema, field),
    isUnexplained: (path, value) => isUnexplained(facts, path, value),
    unexplained: (field) => unexplainedWithin(facts, schema, field),
    mayOutlive: (path, value) => mayOutlive(facts, path, value),
    readsBack: (field) => readsBack(facts, schema, field),
  };
  return schema;
}

function factsOf(apiVersion: string, kind: string, crds: CrdSchemas | undefined): Facts {
  const rules = rulesOf(apiVersion, kind);
  const builtin = builtinType(apiVersion, kind);
  if (builtin !== undefined) return { rules, type: builtin, origin: 'builtin' };
  const schema = crds?.get(apiVersion, kind) ?? builtinCrds.get(apiVersion, kind);
  if (schema !== undefined) return { rules, type: customType(schema), origin: 'custom' };
  return { rules, type: genericType, origin: 'custom' };
}
