/** What a person reads of an answer of the gate: in Argo CD it stands in the Application's condition, or in the plugin's log. */
import type { GateQuestion, PublishedEdit } from '../core/gate/index.ts';
import type { GateReply } from './gate-ask.ts';

const named = 5;
const maxLength = 1_500;

/** Lines for standard error; none when there is nothing to say. */
export function wordsOf(reply: GateReply, question: GateQuestion): readonly string[] {
  return sentences(reply, question).map((text) =>
    text.length > maxLength ? `${text.slice(0, maxLength)}…` : text,
  );
}

function sentences(reply: GateReply, question: GateQuestion): string[] {
  switch (reply.decision) {
    case 'open':
      return reply.covered ? refusedWords(reply.refused) : [];
    case 'superseded':
      return [supersededWords(reply.tip, reply.edits, question), ...refusedWords(reply.refused)];
    case 'closed':
      return [
        `closed (${reply.reason}): ${reply.message}. Edits made live may not be in ${short(question.revision)} yet.`,
      ];
    case 'none':
      return [
        `the sidecar gives no answer: ${reply.message}. Edits made live may not be in ${short(question.revision)} yet.`,
      ];
  }
}

function supersededWords(tip: string, edits: readonly PublishedEdit[], question: GateQuestion): string {
  const start = `superseded: ${short(question.revision)} is not the newest; ${short(tip)} follows it`;
  if (edits.length === 0) return `${start}. Sync that one.`;
  const list = edits
    .slice(0, named)
    .map(
      ({ object, fields, author }) =>
        `${object}${fields.length === 0 ? '' : ` ${fields.join(', ')}`} by ${author}`,
    );
  const more = edits.length > named ? ` and ${edits.length - named} more` : '';
  return `${start} and holds ${edits.length === 1 ? 'an edit' : 'edits'} made live: ${list.join('; ')}${more}. Sync that one.`;
}

function refusedWords(refused: readonly { readonly object: string; readonly reason: string }[]): string[] {
  if (refused.length === 0) return [];
  const list = refused.slice(0, named).map(({ object, reason }) => `${object} (${reason})`);
  const more = refused.length > named ? ` and ${refused.length - named} more` : '';
  return [`live edits that cannot be written to Git, and that a sync overwrites: ${list.join('; ')}${more}.`];
}

function short(commit: string): string {
  return commit.slice(0, 12);
}
