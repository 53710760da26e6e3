/** What a person gave us cannot be used: one line on stderr and exit code 2. */
export class BadInput extends Error {
  override name = 'BadInput';
}

/** The reason of a failed file operation, without the path twice. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    EISDIR: 'is a folder',
    ENOTDIR: 'is not a folder',
    ELOOP: 'is a symbolic link',
  };
  return known[code] ?? error.message;
}
