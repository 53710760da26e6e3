/** Which commit of somebody else a live edit won over, for the words people read. */
import { type ObjectId, objectKey } from '../core/identity.ts';
import type { Notice, Plan } from '../core/plan/index.ts';

/** What is asked of the history, always at or before the commit that was planned on. */
export interface ForeignHistory {
  /** The commit that last touched a path. */
  touching(path: string): Promise<string | undefined>;
  /** The commit that removed the document of an object. */
  removing(id: ObjectId): Promise<string | undefined>;
}

/** The plan's notices, with the commit in each that tells of one. */
export async function namedNotices({ notices }: Plan, history: ForeignHistory): Promise<Notice[]> {
  const asked = new Map<string, Promise<string | undefined>>();
  const ask = (key: string, question: () => Promise<string | undefined>) => {
    const answer = asked.get(key) ?? question();
    asked.set(key, answer);
    return answer;
  };
  const named: Notice[] = [];
  for (const notice of notices) {
    const { code, object, path } = notice;
    let commit: string | undefined;
    if (code === 'ForeignValueOverwritten' && path !== undefined)
      commit = await ask(`path ${path}`, () => history.touching(path));
    if (code === 'RestoredAfterGitDelete')
      commit = await ask(`object ${objectKey(object)}`, () => history.removing(object));
    named.push(commit === undefined ? notice : { ...notice, message: withCommit(notice.message, commit) });
  }
  return named;
}

function withCommit(message: string, commit: string): string {
  return `${message.replace(/\.$/, '')} (commit ${commit.slice(0, 12)}).`;
}
