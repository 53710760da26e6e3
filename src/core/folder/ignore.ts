/**
 * `.gittargetignore`: which paths of the folder the target's owner keeps from us. Gitignore syntax, last match wins.
 */
import ignore from 'ignore';

/** Patterns that would hide the whole folder. Written one by one so that nothing broader is guessed. */
const wholeSpace = new Set(['*', '**', '/', '*.yaml', '*.yml', '**/*', '**/*.yaml', '**/*.yml']);

export interface IgnoreRules {
  /** The pattern that covers the path, or undefined. Paths are relative to the folder. */
  patternFor(path: string): string | undefined;
  /** True when a folder on the way to the path is covered; such folders are not entered at all. */
  coversFolderOf(path: string): boolean;
  /** Patterns that are refused because they would hide everything; they are not applied. */
  readonly refused: readonly string[];
}

export const ignoreNothing: IgnoreRules = {
  patternFor: () => undefined,
  coversFolderOf: () => false,
  refused: [],
};

export function readIgnoreFile(text: string): IgnoreRules {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const refused = lines.map((line) => line.trim()).filter((line) => wholeSpace.has(line));
  const patterns = lines.filter((line) => !wholeSpace.has(line.trim()));
  // The file of a new folder holds comments alone, and every path is asked about.
  if (patterns.every((line) => line.trim() === '' || line.startsWith('#')))
    return { ...ignoreNothing, refused };
  const rules = ignore({ ignorecase: false }).add(patterns);
  return {
    patternFor(path) {
      if (!ignore.isPathValid(path)) return undefined;
      return rules.test(path).rule?.pattern;
    },
    coversFolderOf(path) {
      const slash = path.lastIndexOf('/');
      return slash > 0 && rules.ignores(path.slice(0, slash + 1));
    },
    refused,
  };
}
