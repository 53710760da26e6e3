/** `status [NAMESPACE/NAME]`: what the GitTargets say, read from the cluster with a person's own rights. */
import { Command, Option } from 'commander';
import type { GitBranch } from '../api/git-branch.ts';
import type { GitTarget } from '../api/git-target.ts';
import { findCondition } from '../api/trio.ts';
import { BadInput } from './bad-input.ts';
import {
  branchOf,
  type ClusterOptions,
  getTarget,
  listBranches,
  listTargets,
  type PersonCluster,
  parseTargetName,
  personCluster,
} from './own-kinds.ts';
import { version } from './version.ts';

export interface TargetLine {
  readonly namespace: string;
  readonly name: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Ready and all streams, such as 3/4. */
  readonly streams: string;
  /** Writes that are not pushed yet; undefined when the GitBranch cannot be read. */
  readonly pending: number | undefined;
  readonly branch: string;
  readonly path: string;
  /** Tip of the remote, and when it was last seen. */
  readonly commit: string | undefined;
  readonly seenAt: string | undefined;
  readonly lastPushedCommit: string | undefined;
  /** What is refused, in words. */
  readonly refused: string | undefined;
}

type Print = (line: string) => void;

export interface StatusOptions {
  readonly target?: string | undefined;
  readonly output: 'table' | 'json';
}

/** The command for `program.ts`: exit 0, or 2 when the cluster could not be asked. */
export function statusCommand(): Command {
  return new Command('status')
    .description('show what the GitTargets of a cluster say')
    .argument('[target]', 'NAMESPACE/NAME of one GitTarget (default: all)')
    .addOption(new Option('--output <form>', 'what to print').choices(['table', 'json']).default('table'))
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .action(async (target: string | undefined, options: ClusterOptions & Pick<StatusOptions, 'output'>) => {
      process.exitCode = await guarded('status', async () => {
        const cluster = personCluster(options, version);
        try {
          return await runStatus(cluster, { target, output: options.output }, console.log, console.error);
        } finally {
          await cluster.client.close();
        }
      });
    });
}

/** Runs a command; what a person gave wrong is one line and exit 2. */
export async function guarded(name: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    console.error(`${name}: ${error.message}`);
    return 2;
  }
}

export async function runStatus(
  cluster: PersonCluster,
  { target, output }: StatusOptions,
  out: Print,
  note: Print,
): Promise<number> {
  const lines = await read(cluster, target, note);
  if (output === 'json') {
    out(JSON.stringify(lines, null, 2));
    return 0;
  }
  if (lines.length === 0) {
    note('there is no GitTarget');
    return 0;
  }
  for (const line of table(lines)) out(line);
  for (const line of lines) for (const text of remarks(line, target !== undefined)) out(text);
  return 0;
}

export function lineOf(target: GitTarget, branch: GitBranch | undefined): TargetLine {
  const { metadata, spec, status } = target;
  const ready = findCondition(status?.conditions, 'Ready');
  const path = findCondition(status?.conditions, 'GitPathAccepted');
  const refused = path?.message.includes('refused') ? path.message : undefined;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? 'NotReconciled',
    message: ready?.message ?? 'the sidecar has not looked at it; is it running?',
    streams: status?.streams?.summary ?? '-',
    pending: branch?.status?.pendingWrites,
    branch: branch?.spec.branch ?? spec.branch ?? '',
    path: spec.path,
    commit: status?.remote?.commit || undefined,
    seenAt: status?.remote?.lastVerifiedAt,
    lastPushedCommit: branch?.status?.lastPushedCommit,
    refused,
  };
}

async function read(cluster: PersonCluster, target: string | undefined, note: Print): Promise<TargetLine[]> {
  const { client } = cluster;
  if (target !== undefined) {
    const { namespace, name } = parseTargetName(target);
    const one = await getTarget(client, namespace, name);
    return [lineOf(one, branchOf(one, await listBranches(client, namespace)))];
  }
  const { targets, namespace } = await listTargets(cluster);
  if (namespace !== '')
    note(`you may not list GitTargets of all namespaces; these are the ones of ${namespace}`);
  const branches = targets.length === 0 ? [] : await listBranches(client, namespace);
  return targets.map((one) => lineOf(one, branchOf(one, branches)));
}

function table(lines: readonly TargetLine[]): string[] {
  const header = ['TARGET', 'READY', 'REASON', 'STREAMS', 'PENDING', 'BRANCH', 'COMMIT', 'SEEN'];
  const rows = lines.map((line) => [
    `${line.namespace}/${line.name}`,
    line.ready,
    line.reason,
    line.streams,
    line.pending === undefined ? '-' : String(line.pending),
    line.branch,
    line.commit?.slice(0, 12) ?? '-',
    line.seenAt ?? '-',
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [header, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** What a table cell is too narrow for. */
function remarks(line: TargetLine, detailed: boolean): string[] {
  const subject = `${line.namespace}/${line.name}`;
  const told = detailed || line.ready !== 'True' ? [`${subject}: ${line.message}`] : [];
  return line.refused === undefined ? told : [...told, `${subject}: ${line.refused}`];
}
