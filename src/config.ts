/** Flags and environment of `run`: one schema, the only place that reads them. Flags win over the environment. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { parseDuration } from './api/duration.ts';

const size = z
  .string()
  .regex(/^\d+(Ki|Mi|Gi)?$/, 'must be a size such as 8Mi')
  .transform((text) => Number.parseInt(text, 10) * (sizeUnits[text.slice(-2)] ?? 1))
  .refine((bytes) => bytes > 0, 'must be greater than 0');
const sizeUnits: Record<string, number> = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 };

const duration = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: 'custom', message: `"${text}" is not a duration; write for example 10m or 90s` });
  return z.NEVER;
});

/** `127.0.0.1:9796`, `:9796` (every address), `[::]:9796` (every one of IPv6 too), or `0` = off. */
const listener = z.string().transform((text, context) => {
  if (text === '0') return undefined;
  const match = /^(?:\[(?<v6>[0-9a-fA-F:]+)\]|(?<host>[^[\]]*)):(?<port>\d{1,5})$/.exec(text);
  if (match?.groups !== undefined)
    return { host: match.groups.v6 || match.groups.host || '0.0.0.0', port: Number(match.groups.port) };
  context.addIssue({
    code: 'custom',
    message: `"${text}" is not HOST:PORT; write for example :9796, or 0 to switch it off`,
  });
  return z.NEVER;
});

/** As `listener`, or `unix:/path` of a socket. */
const listenerOrSocket = z
  .string()
  .regex(
    /^(?!unix:)|^unix:\/./,
    'the path of a socket must be absolute; write for example unix:/run/gate.sock',
  )
  .pipe(
    z.union([
      z
        .string()
        .startsWith('unix:')
        .transform((text) => ({ socket: text.slice('unix:'.length) })),
      listener,
    ]),
  );

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

const fields = z.object({
  kubeconfig: z.string().optional(),
  namespace: z.string().default('default'),
  identity: z.string().optional(),
  dataDir: z.string().default('/var/lib/gitops-reverser'),
  healthBindAddress: listener.prefault(':9796'),
  metricsBindAddress: listener.prefault(':9795'),
  gateBindAddress: listenerOrSocket.prefault('127.0.0.1:9797'),
  gateTokenFile: z.string().optional(),
  sharedCheckoutDir: z.string().optional(),
  peerBindAddress: listener.prefault('0'),
  peerTokenFile: z.string().optional(),
  podIp: z.string().optional(),
  tlsCertFile: z.string().optional(),
  tlsKeyFile: z.string().optional(),
  tlsCaFile: z.string().optional(),
  argocdNamespace: z.string().min(1).default('argocd'),
  artifactBindAddress: listenerOrSocket.prefault('127.0.0.1:9798'),
  sourceControllerUrl: httpUrl.default('http://source-controller.flux-system.svc.cluster.local.'),
  sourceWatcherUrl: httpUrl.default('http://source-watcher.flux-system.svc.cluster.local.'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  branchBufferMaxSize: size.prefault('8Mi'),
  gitRefreshInterval: duration.prefault('10m'),
  gitTimeout: duration.prefault('60s'),
  shutdownTimeout: duration.prefault('20s'),
  leaderElect: z.boolean().default(true),
  additionalSensitiveResources: list.prefault(''),
  sops: z.string().default('sops'),
  kustomize: z.string().default('kustomize'),
  defaultKnownHostsConfigmap: z.string().optional(),
  insecureAllowGitHttp: z.boolean().default(false),
  insecureAllowMissingKnownHosts: z.boolean().default(false),
  insecureKubeconfigExec: z.boolean().default(false),
  insecureKubeconfigTls: z.boolean().default(false),
});

/** What one flag asks of another. */
const configSchema = fields.superRefine((config, context) => {
  const problem = (flag: keyof z.output<typeof fields>, message: string) =>
    context.addIssue({ code: 'custom', path: [flag], message });
  const { gateBindAddress: gate, gateTokenFile, peerBindAddress: peer, tlsCertFile, tlsKeyFile } = config;
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined))
    problem('tlsCertFile', '--tls-cert-file and --tls-key-file go together');
  if (gateTokenFile !== undefined && gate !== undefined && 'host' in gate) {
    if (!isLoopback(gate.host) && tlsCertFile === undefined)
      problem(
        'gateBindAddress',
        `${gate.host} is no loopback address: the token would travel in clear; give --tls-cert-file`,
      );
  }
  if (peer === undefined) return;
  if (config.peerTokenFile === undefined)
    problem('peerBindAddress', 'needs --peer-token-file, a token that all replicas share');
  if (isUnspecified(peer.host) && config.podIp === undefined)
    problem('peerBindAddress', 'needs --pod-ip (or $POD_IP), so that others know where this replica is');
  if (tlsCertFile !== undefined && config.tlsCaFile === undefined)
    problem('tlsCaFile', 'is needed beside --tls-cert-file to recognise other replicas');
});

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function isUnspecified(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

export type Config = z.output<typeof configSchema>;
export type ListenAddress = Config['healthBindAddress'];

/** Adds the flags of `run` to a command. */
export function addConfigOptions(command: Command): Command {
  const flag = (flags: string, text: string, env?: string) => {
    const option = new Option(flags, text);
    command.addOption(env === undefined ? option : option.env(env));
  };
  flag(
    '--kubeconfig <file>',
    'kubeconfig of the control cluster (default: in-cluster, then $KUBECONFIG)',
    'KUBECONFIG',
  );
  flag('--namespace <name>', 'namespace this process runs in (default: default)', 'POD_NAMESPACE');
  flag(
    '--identity <name>',
    'name of this replica in the Lease (default: host name and process id)',
    'POD_NAME',
  );
  flag(
    '--data-dir <dir>',
    'private volume for repositories and handled states (default: /var/lib/gitops-reverser)',
  );
  flag('--health-bind-address <address>', 'HOST:PORT of /healthz and /readyz, 0 = off (default: :9796)');
  flag('--metrics-bind-address <address>', 'HOST:PORT of /metrics, 0 = off (default: :9795)');
  flag(
    '--gate-bind-address <address>',
    'HOST:PORT or unix:/PATH of the gate for plugins, 0 = off (default: 127.0.0.1:9797)',
  );
  flag(
    '--gate-token-file <file>',
    'file with the bearer token of the gate, made when it is missing; without it the gate is off',
  );
  flag(
    '--shared-checkout-dir <dir>',
    'volume shared with plugins of Argo CD, for checkouts of published commits (default: none)',
  );
  flag(
    '--peer-bind-address <address>',
    'HOST:PORT where other replicas ask this one while it leads, 0 = off (default: 0)',
  );
  flag('--peer-token-file <file>', 'file with the token that all replicas share');
  flag('--pod-ip <address>', 'address at which other replicas reach this one', 'POD_IP');
  flag('--tls-cert-file <file>', 'certificate of the gate and peer listeners; read again when it changes');
  flag('--tls-key-file <file>', 'key of that certificate');
  flag('--tls-ca-file <file>', 'authority that certificates of other replicas must come from');
  flag(
    '--artifact-bind-address <address>',
    'HOST:PORT of the artifact door of Flux, 0 = off (default: 127.0.0.1:9798)',
  );
  flag(
    '--argocd-namespace <name>',
    'where Applications live that a tracking mark names without a namespace (default: argocd)',
  );
  flag('--source-controller-url <url>', 'where artifacts come from that the door does not check');
  flag('--source-watcher-url <url>', 'where artifacts of ArtifactGenerators come from');
  flag('--log-level <level>', 'debug, info, warn or error (default: info)');
  flag(
    '--branch-buffer-max-size <size>',
    'edits held in memory per branch (default: 8Mi)',
    'BRANCH_BUFFER_MAX_SIZE',
  );
  flag(
    '--git-refresh-interval <duration>',
    'how often an idle remote is looked at, 0s = never (default: 10m)',
  );
  flag('--git-timeout <duration>', 'longest fetch or push (default: 60s)');
  flag('--shutdown-timeout <duration>', 'time to publish pending edits when stopped (default: 20s)');
  flag('--no-leader-elect', 'do not take the Lease; only for a single process');
  flag(
    '--additional-sensitive-resources <list>',
    'further resources that reach Git only encrypted, e.g. secrets.example.org',
  );
  flag('--kustomize <bin>', 'the kustomize binary that builds overlays (default: from PATH)');
  flag('--sops <bin>', 'the sops binary that encrypts sensitive objects (default: from PATH)');
  flag('--default-known-hosts-configmap <name>', 'ConfigMap with known_hosts for every ssh remote');
  flag('--insecure-allow-git-http', 'allow credentials over plain http');
  flag('--insecure-allow-missing-known-hosts', 'accept any ssh host key where none is configured');
  flag('--insecure-kubeconfig-exec', 'allow exec plugins in kubeconfigs of KubeProviders');
  flag('--insecure-kubeconfig-tls', 'allow kubeconfigs of KubeProviders that skip TLS verification');
  return command;
}

export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Checks what commander collected. Every problem names its flag. */
export function parseConfig(options: Record<string, unknown>): ParsedConfig {
  const parsed = configSchema.safeParse(options);
  if (parsed.success) return { ok: true, config: parsed.data };
  const problems = parsed.error.issues.map((issue) => `--${kebab(String(issue.path[0]))}: ${issue.message}`);
  return { ok: false, problems };
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
