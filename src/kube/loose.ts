/** Reading values of unknown shape: what others wrote or what a server sent. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The value when it is text, else ''. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list; anything else is left out. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The objects of a list; anything else is left out. */
export function records(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
