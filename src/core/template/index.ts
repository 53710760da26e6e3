/**
 * The part of Go's text/template that commit messages need. What it takes it renders as Go does, with a missing key
 * as an error; what it does not take it refuses when the template is read. It knows nothing of commits: message.ts does.
 */
import { parseTree } from './parse.ts';
import { renderTree } from './render.ts';
import { type Node, position, SyntaxTrouble } from './syntax.ts';
import { TemplateFailure, type TemplateValue } from './value.ts';

export interface Template {
  readonly text: string;
  readonly nodes: readonly Node[];
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly message: string };

export type RenderedTemplate =
  | { readonly ok: true; readonly text: string; readonly cut: boolean }
  | { readonly ok: false; readonly message: string };

const maxTemplate = 16 * 1024;

/** Reads a template. The message of a refusal starts with its place: `line 1, column 3: ...`. */
export function parseTemplate(text: string): ParsedTemplate {
  if (text.length > maxTemplate) return { ok: false, message: 'the template is longer than 16 KiB' };
  return caught(text, () => ({ ok: true, template: { text, nodes: parseTree(text) } }));
}

/** Renders at most 64 KiB; `cut` says that there was more. */
export function renderTemplate({ text, nodes }: Template, data: TemplateValue): RenderedTemplate {
  return caught(text, () => ({ ok: true, ...renderTree(nodes, data) }));
}

function caught<Result>(text: string, work: () => Result): Result | { ok: false; message: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof SyntaxTrouble) {
      return { ok: false, message: `${position(text, error.at)}: ${error.message}` };
    }
    if (error instanceof TemplateFailure) return { ok: false, message: error.message };
    throw error;
  }
}
