/**
 * `gate -- COMMAND…`: the generate command of an Argo CD plugin. It asks the sidecar to publish every live edit, then runs the
 * command. Standard output belongs to the command alone: Argo CD takes an empty one with exit code 0 for "no resources" and
 * prunes everything. It reads no cluster and no Git; the sidecar does.
 */
import { Command, Option } from 'commander';
import { parseDuration } from '../api/duration.ts';
import { type Clock, systemClock } from '../kube/clock.ts';
import { askGate, type GateAddress, type GateReply, parseAddress } from './gate-ask.ts';
import { sharedCheckout } from './gate-checkout.ts';
import { runChild } from './gate-child.ts';
import { type Environment, questionOf } from './gate-question.ts';
import { wordsOf } from './gate-words.ts';

/** Exit codes besides those of the command; 65 and later are sysexits' neighbours of "not now". */
const exit = { badUse: 64, superseded: 65, closed: 66, unreachable: 69 } as const;

interface Flags {
  readonly mode: 'advise' | 'strict';
  readonly deadline: string;
  readonly address: string;
  readonly tokenFile: string;
  readonly caFile?: string;
  readonly namespace: string;
  readonly checkoutDir?: string;
}

interface Gate {
  readonly strict: boolean;
  readonly deadlineMs: number;
  readonly address: GateAddress;
  readonly tokenFile: string;
  readonly caFile: string | undefined;
  readonly namespace: string;
  readonly checkoutDir: string | undefined;
}

const maxDeadlineMs = 60_000;
const minDeadlineMs = 1_000;

export function gateCommand(): Command {
  const option = (flags: string, text: string, variable: string, preset?: string) =>
    new Option(flags, text).env(`GITOPS_REVERSER_${variable}`).default(preset);
  return new Command('gate')
    .description('in an Argo CD plugin: publish live edits, then run the command that renders')
    .argument('<command...>', 'the command and its arguments, after --')
    .addOption(
      option('--mode <mode>', 'advise always renders, strict fails instead', 'GATE_MODE', 'advise').choices([
        'advise',
        'strict',
      ]),
    )
    .addOption(option('--deadline <duration>', 'longest wait for an answer', 'GATE_DEADLINE', '40s'))
    .addOption(
      option(
        '--address <address>',
        'HOST:PORT, https://HOST:PORT or unix:/PATH',
        'GATE_ADDRESS',
        '127.0.0.1:9797',
      ),
    )
    .addOption(
      option(
        '--token-file <file>',
        'the token of the gate',
        'GATE_TOKEN_FILE',
        '/var/run/gitops-reverser/gate/token',
      ),
    )
    .addOption(option('--ca-file <file>', 'the authority behind an https address', 'GATE_CA_FILE'))
    .addOption(option('--namespace <name>', 'namespace of Argo CD', 'ARGOCD_NAMESPACE', 'argocd'))
    .addOption(
      option(
        '--checkout-dir <dir>',
        'render in the checkout of the sidecar, when it has the commit',
        'CHECKOUT_DIR',
      ),
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exit.badUse))
    .action(async (command: readonly string[], flags: Flags) => {
      process.exitCode = await gate(command, flags, process.env, systemClock);
    });
}

async function gate(
  [command = '', ...args]: readonly string[],
  flags: Flags,
  environment: Environment,
  clock: Clock,
): Promise<number> {
  const read = readFlags(flags);
  if (typeof read === 'string') return badUse(read);
  const asked = questionOf(environment, read.namespace);
  if (asked.kind === 'no-plugin') {
    return badUse(
      `${asked.missing.join(', ')} is not set; this is for the generate command of an Argo CD plugin`,
    );
  }
  let folder: string | undefined;
  if (asked.kind === 'question') {
    const { question } = asked;
    const reply = await askGate({ ...read, question, patient: read.strict, clock });
    for (const line of wordsOf(reply, question)) say(line);
    const refused = read.strict ? refusal(reply) : undefined;
    if (refused !== undefined) return refused;
    folder = await sharedCheckout(read.checkoutDir, question);
  } else {
    say(`${asked.revision} is no commit, so no live edit can be written there`);
  }
  return await runChild({ command, args, cwd: folder ?? process.cwd(), say });
}

/** Why strict does not render; undefined: it does. */
function refusal({ decision }: GateReply): number | undefined {
  switch (decision) {
    case 'open':
      return undefined;
    case 'superseded':
      return exit.superseded;
    case 'closed':
      return exit.closed;
    case 'none':
      return exit.unreachable;
  }
}

function readFlags(flags: Flags): Gate | string {
  const deadlineMs = parseDuration(flags.deadline);
  if (deadlineMs === undefined || deadlineMs < minDeadlineMs || deadlineMs > maxDeadlineMs) {
    return `--deadline ${flags.deadline} is no duration from 1s to 60s`;
  }
  const address = parseAddress(flags.address);
  if (address === undefined)
    return `--address ${flags.address} is neither HOST:PORT, https://HOST:PORT nor unix:/PATH`;
  const { tokenFile, caFile, namespace, checkoutDir } = flags;
  return { strict: flags.mode === 'strict', deadlineMs, address, tokenFile, caFile, namespace, checkoutDir };
}

function badUse(message: string): number {
  say(message);
  return exit.badUse;
}

function say(line: string): void {
  process.stderr.write(`gitops-reverser gate: ${line}\n`);
}
