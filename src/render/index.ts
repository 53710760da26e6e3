/** The rim around the kustomize program; see kustomize.ts. */
export { createKustomize, type KustomizeOptions } from './kustomize.ts';
