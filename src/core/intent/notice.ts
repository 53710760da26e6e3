/** What a person should hear about although nothing is wrong: one sentence per notice, without secret values. */
import { describeObject, identify } from '../identity.ts';
import { isObject, type Json, type JsonObject, type Path } from '../json.ts';
import type { FieldChange } from './changes.ts';
import { isReplicas, isStated } from './judge.ts';
import { formatPath } from './path.ts';
import { isMissing, type MergeRules, member } from './place.ts';
import { equalByMeaning } from './schema/index.ts';

export type NoticeCode =
  /** The file states `replicas`, an autoscaler sets them; the file's number is kept. */
  | 'AutoscalerOwnsReplicas'
  /** The file states a field that a controller set to another value; the file's is kept. */
  | 'ControllerOwnsField'
  /** Live and Git changed the same field; the live value was written over Git's. */
  | 'ForeignValueOverwritten'
  /** Git deleted the document while the live object was edited; it comes back. */
  | 'RestoredAfterGitDelete';

export interface Notice {
  readonly code: NoticeCode;
  readonly message: string;
  readonly path?: Path;
}

export function ownedByAutoscaler(live: JsonObject, path: Path): Notice {
  return {
    code: 'AutoscalerOwnsReplicas',
    path,
    message:
      `An autoscaler owns ${formatPath(path)} of ${nameOf(live)}: the number in Git is kept and takes effect only when the ` +
      'applier applies it; remove the line from the file.',
  };
}

export function valueOverwritten(change: FieldChange): Notice {
  return {
    code: 'ForeignValueOverwritten',
    path: change.path,
    message: `${change.where} was changed both in Git and live; the live value replaced the one in Git.`,
  };
}

export function restoredAfterDelete(live: JsonObject, fields: readonly FieldChange[]): Notice {
  const named = fields.slice(0, 3).map(({ where }) => where);
  const more = fields.length > named.length ? ` and ${fields.length - named.length} more` : '';
  return {
    code: 'RestoredAfterGitDelete',
    message: `Git deleted ${nameOf(live)} while ${named.join(', ')}${more} was edited live; the live object is written to Git again.`,
  };
}

/** Stated fields that only a controller changed. */
export function keptByController(
  rules: MergeRules,
  live: JsonObject,
  handled: JsonObject | undefined,
): Notice[] {
  const notices: Notice[] = [];
  const visit = (path: Path, stated: Json, now: Json | undefined, before: Json | undefined): void => {
    if (isMissing(stated) || isMissing(now) || (rules.autoscaled && isReplicas(path))) return;
    if (handled !== undefined && equalByMeaning(before, now, rules.schema, path)) return;
    if (isObject(stated) && isObject(now)) {
      for (const [key, value] of Object.entries(stated))
        visit([...path, key], value, member(now, key), member(before, key));
    } else if (rules.verdict(path) === 'controller' && !isStated(rules, path, stated, now)) {
      notices.push({
        code: 'ControllerOwnsField',
        path,
        message: `A controller set ${formatPath(path, live)} of ${nameOf(live)}; the value in Git is kept.`,
      });
    }
  };
  visit([], rules.document, live, handled);
  return notices;
}

function nameOf(live: JsonObject): string {
  const id = identify(live);
  return id === undefined ? 'the object' : describeObject(id);
}
