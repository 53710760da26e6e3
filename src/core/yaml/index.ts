/**
 * The splice editor: reads YAML documents the way Kubernetes tools do and changes them in place, node by node, so that every
 * byte outside the touched nodes stays. It knows text and JSON values, nothing of Kubernetes objects; the planner calls it.
 */
export { type Decoded, decodeFile, encodeFile } from './bytes.ts';
export { appendDocument, removeDocument } from './documents.ts';
export { type EditOptions, type EditResult, editDocument } from './edit.ts';
export { printDocument } from './print.ts';
export { type ReadDocument, readDocuments } from './read.ts';
export { type DocumentSlice, splitDocuments } from './split.ts';
