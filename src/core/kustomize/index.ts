/**
 * Kustomize folders: which build makes a live object, and which file, entry or patch has to say what so that the next build makes
 * it as it is live.
 *
 * Values in, values out; it reads through a `Tree` and asks the real kustomize through `Render`. Nothing counts before a build has
 * proved it. It knows neither git nor the cluster. Called by core/plan; docs/reference/kustomize.md lists what is editable.
 */
export { type Builds, openBuilds, type RootBuild, type RootFailure } from './builds.ts';
export {
  asBuilt,
  documentFor,
  homeOf,
  type KustomizeLayout,
  kustomizeLayout,
  namespaceOf,
} from './create.ts';
export { type Decoded, decodeKustomization, type Kustomization } from './decode.ts';
export { type Divergence, divergences } from './divergence.ts';
export { type FeatureRule, featureRule, featureRules, type Verdict } from './features.ts';
export {
  type DecodedFiles,
  type KustomizeGraph,
  type KustomizeNode,
  type KustomizeProblem,
  outsideOf,
  type Reach,
  readGraph,
  topmost,
} from './graph.ts';
export { imagePattern, parseImage, printImage } from './image.ts';
export {
  type Found,
  type KustomizeOptions,
  type OpenedFolder,
  type Overlay,
  openOverlay,
} from './overlay.ts';
export { postBuildOf, substituteSources } from './post-build.ts';
export { parentOf } from './reference.ts';
export { type DeletePatch, deletePatchOf, restoreDeleted } from './remove.ts';
export {
  blobId,
  createRenderCache,
  type Render,
  type RenderCache,
  type RenderFile,
  type RenderOutput,
  type RenderRequest,
} from './render.ts';
export { type RenderedObject, withoutMarks } from './rendered.ts';
export { type OverlayChange, type Settled, settle } from './settle.ts';
export { fillObject, type PostBuild, type Restored, restoreObject } from './variables.ts';
