/**
 * The substitution that Flux makes after a build: `${VAR}`, defaults, upper and lower case, and `$$` for a dollar.
 *
 * What else the shell knows (parts of a value, replacements) is recognised and left open, never guessed.
 */

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'variable';
      readonly name: string;
      /** As written after the name, `:=` and so on; '' for none, `other` for what we do not follow. */
      readonly operator: '' | 'default' | 'upper' | 'lower' | 'other';
      readonly fallback: readonly Part[];
    };

/** The parts of a text; undefined when Flux could not read it either. */
export function parseVariables(text: string): readonly Part[] | undefined {
  const cursor = { at: 0 };
  const parts = parseParts(text, cursor, false);
  return parts !== undefined && cursor.at === text.length ? parts : undefined;
}

function parseParts(text: string, cursor: { at: number }, inside: boolean): Part[] | undefined {
  const parts: Part[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
  };
  while (cursor.at < text.length) {
    const char = text[cursor.at];
    const next = text[cursor.at + 1];
    if (inside && char === '}') break;
    if (char === '$' && next === '{') {
      flush();
      const variable = parseVariable(text, cursor);
      if (variable === undefined) return undefined;
      parts.push(variable);
    } else if (char === '$' && next === '$' && !inside) {
      plain += '$';
      cursor.at += 2;
    } else {
      plain += char;
      cursor.at += 1;
    }
  }
  flush();
  return parts;
}

function parseVariable(text: string, cursor: { at: number }): Part | undefined {
  const found = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(:=|:-|=|\^\^|,,)?/.exec(text.slice(cursor.at));
  if (found === null) return skipOther(text, cursor);
  const start = cursor.at;
  cursor.at += found[0].length;
  const [, name = '', operator = ''] = found;
  if (operator === ':=' || operator === ':-' || operator === '=') {
    const fallback = parseParts(text, cursor, true);
    if (fallback === undefined || text[cursor.at] !== '}') return undefined;
    cursor.at += 1;
    return { kind: 'variable', name, operator: 'default', fallback };
  }
  if (text[cursor.at] !== '}') {
    cursor.at = start;
    return skipOther(text, cursor);
  }
  cursor.at += 1;
  const how = operator === '^^' ? 'upper' : operator === ',,' ? 'lower' : '';
  return { kind: 'variable', name, operator: how, fallback: [] };
}

/** `${VAR:2:3}`, `${VAR/a/b}`, `${#VAR}`. */
function skipOther(text: string, cursor: { at: number }): Part | undefined {
  const found = /^\$\{#?([A-Za-z_][A-Za-z0-9_]*)[^{}]*\}/.exec(text.slice(cursor.at));
  if (found === null) return undefined;
  cursor.at += found[0].length;
  return { kind: 'variable', name: found[1] ?? '', operator: 'other', fallback: [] };
}

/** The text with the variables filled in; undefined when one of them is not known. `known` returns '' for an unset one. */
export function fillIn(
  parts: readonly Part[],
  known: (name: string) => string | undefined,
): string | undefined {
  let text = '';
  for (const part of parts) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const value = variableText(part, known);
    if (value === undefined) return undefined;
    text += value;
  }
  return text;
}

function variableText(
  part: Extract<Part, { kind: 'variable' }>,
  known: (name: string) => string | undefined,
): string | undefined {
  const value = known(part.name);
  if (value === undefined || part.operator === 'other') return undefined;
  if (part.operator === 'upper') return value.toUpperCase();
  if (part.operator === 'lower') return value.toLowerCase();
  return value === '' && part.operator === 'default' ? fillIn(part.fallback, known) : value;
}

/** The names of the variables in a text, in order. */
export function variablesIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [] : [part.name, ...variablesIn(part.fallback)]));
}

/** A text that Flux leaves as it is wanted. */
export function escapeVariables(text: string): string {
  return text.replace(/\$(?=[${])/g, '$$$$');
}
