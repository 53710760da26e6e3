/** The message of one commit: the target's template, what it overwrote, and trailers that say how well the author is proven. */
import type { ObjectChange, Write } from '../core/branch/state.ts';
import { describeObject, metadataMap } from '../core/identity.ts';
import type { Plan } from '../core/plan/index.ts';
import { liveMessage, type MessageResource, reconcileMessage } from '../core/template/message.ts';
import type { TargetRun } from './target-run.ts';

/** Overwritten fields named in one commit at most. */
const overwrittenLimit = 20;

export async function commitMessage(
  write: Write,
  plan: Plan,
  target: TargetRun,
  commitOf: (path: string) => Promise<string | undefined>,
): Promise<string> {
  const subject = write.reconcile === undefined ? live(write, plan, target) : reconcile(write, plan, target);
  const overwritten = await overwrittenLines(plan, commitOf);
  const body = overwritten.length === 0 ? subject : `${subject.trimEnd()}\n\n${overwritten.join('\n')}\n`;
  const trailers = trailerLines(write);
  return trailers.length === 0 ? body : `${body.trimEnd()}\n\n${trailers.join('\n')}\n`;
}

function live(write: Write, plan: Plan, target: TargetRun): string {
  const written = writtenKeys(plan);
  const resources = write.changes
    .filter((change) => written.has(describeObject(change.id)))
    .map(messageResource);
  const author = write.author.git?.name ?? '';
  return target.tell(liveMessage(target.templates.live, { author, gitTarget: target.spec.name, resources }));
}

function reconcile(write: Write, plan: Plan, target: TargetRun): string {
  const { resource, namespace, resourceVersion } = write.reconcile ?? {
    resource: undefined,
    resourceVersion: '',
  };
  const data = {
    gitTarget: target.spec.name,
    count: writtenKeys(plan).size,
    ...resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
  };
  return target.tell(reconcileMessage(target.templates.reconcile, data));
}

/** Objects whose document this commit changes; a bootstrap file belongs to none. */
function writtenKeys(plan: Plan): Set<string> {
  return new Set(plan.edits.flatMap(({ objects }) => objects.map(describeObject)));
}

function messageResource(change: ObjectChange): MessageResource {
  const { operation, id, resource, resourceVersion, live: object } = change;
  const labels = object === undefined ? {} : metadataMap(object, 'labels');
  const { namespace, name } = id;
  const texts = Object.entries(labels).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value]] : [],
  );
  const kind = operation === 'DELETE' ? '' : id.kind;
  return {
    operation,
    ...resource,
    kind,
    namespace,
    name,
    resourceVersion,
    labels: Object.fromEntries(texts),
  };
}

/** Live won over a value somebody committed meanwhile: the commit says whose (contracts 1). */
async function overwrittenLines(
  plan: Plan,
  commitOf: (path: string) => Promise<string | undefined>,
): Promise<string[]> {
  const lines: string[] = [];
  for (const { path, overwritten } of plan.edits) {
    if (overwritten.length === 0) continue;
    const commit = await commitOf(path);
    const of = commit === undefined ? '' : ` of ${commit.slice(0, 12)}`;
    for (const { object, field } of overwritten)
      lines.push(`Overwrites ${field}${of} in ${describeObject(object)}.`);
  }
  if (lines.length <= overwrittenLimit) return lines;
  return [...lines.slice(0, overwrittenLimit), `Overwrites ${lines.length - overwrittenLimit} more fields.`];
}

function trailerLines({ author, reconcile: snapshot }: Write): string[] {
  if (snapshot !== undefined) return ['Attribution: none'];
  return [
    ...author.managers.map((manager) => `Edited-With: ${oneLine(manager)}`),
    `Attribution: ${author.proof}`,
  ];
}

/** A field manager's name is foreign text: it must not add lines, and so trailers, to a message. */
function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f\u0085\u2028\u2029]+/g, ' ').trim();
}
