/**
 * What we know about kinds: which live fields are server defaults, allocated or computed, which lists are keyed, which
 * scalars compare by value, and how the server gives back what a document states.
 *
 * Facts only: it knows neither owners nor earlier states, and it decides no edit. The three-way merge of `core/intent` asks
 * it per field; the planner uses it to strip a new object and to compare a render with a live object.
 */
export { type CrdSchemas, crdSchemasOf } from './crd.ts';
export { parseDuration } from './duration.ts';
export { equalByMeaning, isOrdered } from './equal.ts';
export type { ExplainField, Explanation, KindSchema, ReadsBackField } from './kind-schema.ts';
export { alignPath, pairItems } from './pairing.ts';
export { compareQuantities, parseQuantity, type Quantity } from './quantity.ts';
export { kindSchema } from './schema.ts';
export type { Meaning } from './types.ts';
export { unexplained } from './unexplained.ts';
