/** The objects the bench edits, and the GitTargets that mirror them. */
import { git } from '../cluster/git.ts';
import { until } from '../cluster/wait.ts';
import type { World } from '../e2e/sidecar.ts';
import { type ApiClient, many } from './api-client.ts';

/** About 1 KB of YAML each. */
export async function createConfigMaps(api: ApiClient, namespace: string, count: number): Promise<void> {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await many(count, (index) =>
    api.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, configMap(index)),
  );
}

export function configMapName(index: number): string {
  return `settings-${String(index).padStart(5, '0')}`;
}

export function patchConfigMap(
  api: ApiClient,
  namespace: string,
  index: number,
  value: string,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/${configMapName(index)}`;
  return api.send('PATCH', path, { data: { 'edited.at': value } });
}

function configMap(index: number): object {
  const data: Record<string, string> = { 'edited.at': 'never' };
  for (let line = 0; line < 12; line++)
    data[`setting.${line}`] = `the value of ${index} is ${(index * 7919 + line * 104_729) % 1_000_003}`;
  data['application.properties'] = Array.from(
    { length: 8 },
    (_unused, line) => `feature.${line}.enabled=${(index + line) % 2 === 0}\n`,
  ).join('');
  const labels = { 'app.kubernetes.io/name': configMapName(index), tier: `tier-${index % 7}` };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configMapName(index), labels }, data };
}

export interface BenchTarget {
  readonly name: string;
  readonly namespace: string;
  /** The bare repository on the server. */
  readonly bareDir: string;
  readonly path: string;
}

const group = 'configbutler.ai/v1alpha3';

/** A repository with a README and a GitTarget for it that watches nothing yet. */
export async function createTarget(
  world: World,
  api: ApiClient,
  namespace: string,
  name: string,
): Promise<BenchTarget> {
  const bareDir = await world.git.createRepository(`${name}.git`, { files: { 'README.md': '# bench\n' } });
  await git(['config', 'gc.auto', '0'], { cwd: bareDir });
  const path = 'live';
  const metadata = { name, namespace };
  const window = { idleTimeout: '0s', maxDuration: '1m' };
  await create(api, namespace, 'gitproviders', {
    kind: 'GitProvider',
    metadata,
    spec: { url: world.git.url(`${name}.git`), allowedBranches: ['main'] },
  });
  await create(api, namespace, 'gittargets', {
    kind: 'GitTarget',
    metadata,
    spec: { gitProviderRef: { name }, branch: 'main', path, commit: { window } },
  });
  await condition(api, { namespace, name }, 'GitProviderReady', isTrue);
  return { name, namespace, bareDir, path };
}

/** The moment a mirror begins. */
export async function createRule(api: ApiClient, { namespace, name }: BenchTarget): Promise<void> {
  await create(api, namespace, 'watchrules', {
    kind: 'WatchRule',
    metadata: { name, namespace },
    spec: { gitTargetRef: { name }, rules: [{ apiGroups: [''], resources: ['configmaps'] }] },
  });
}

/** Asks for a new snapshot. */
export async function requestResync(api: ApiClient, { namespace, name }: BenchTarget): Promise<void> {
  const annotations = { 'reconcile.configbutler.ai/requestedAt': `${performance.now()}` };
  const path = `/apis/${group}/namespaces/${namespace}/gittargets/${name}`;
  await api.send('PATCH', path, { metadata: { annotations } });
}

/** Waits until its streams run. */
export async function mirrored(api: ApiClient, target: BenchTarget): Promise<void> {
  await condition(api, target, 'StreamsRunning', isTrue);
}

/** Waits until its streams read a snapshot again. */
export async function reading(api: ApiClient, target: BenchTarget): Promise<void> {
  await condition(api, target, 'StreamsRunning', ({ reason }) => reason === 'Replaying');
}

export async function removeTarget(api: ApiClient, { namespace, name }: BenchTarget): Promise<void> {
  for (const kind of ['watchrules', 'gittargets', 'gitproviders'])
    await api.send('DELETE', `/apis/${group}/namespaces/${namespace}/${kind}/${name}`);
}

/** The files of a commit with their content. */
export async function filesAt(
  bareDir: string,
  revision: string,
): Promise<{ path: string; content: Buffer }[]> {
  const listed = await git(['ls-tree', '-r', '-z', '--full-tree', revision], { cwd: bareDir });
  const entries = listed
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => {
      const [head = '', path = ''] = record.split('\t');
      return { id: head.split(' ')[2] ?? '', path };
    });
  const stdin = entries.map(({ id }) => `${id}\n`).join('');
  const output = Buffer.from(await git(['cat-file', '--batch'], { cwd: bareDir, stdin }));
  let at = 0;
  return entries.map(({ path }) => {
    const end = output.indexOf(10, at);
    const size = Number(output.subarray(at, end).toString().split(' ')[2]);
    const content = output.subarray(end + 1, end + 1 + size);
    at = end + 1 + size + 1;
    return { path, content };
  });
}

export async function countFiles(bareDir: string, revision: string): Promise<number> {
  const listed = await git(['ls-tree', '-r', '--name-only', revision], { cwd: bareDir });
  return listed.split('\n').length - 1;
}

async function create(api: ApiClient, namespace: string, resource: string, object: object): Promise<void> {
  await api.send('POST', `/apis/${group}/namespaces/${namespace}/${resource}`, {
    apiVersion: group,
    ...object,
  });
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

const isTrue = ({ status }: Condition) => status === 'True';

async function condition(
  api: ApiClient,
  { namespace, name }: Pick<BenchTarget, 'namespace' | 'name'>,
  type: string,
  wanted: (condition: Condition) => boolean,
): Promise<void> {
  const path = `/apis/${group}/namespaces/${namespace}/gittargets/${name}`;
  await until(
    `${type} of GitTarget ${name}`,
    async () => {
      const { status } = JSON.parse(await api.send('GET', path));
      const conditions: Condition[] = status?.conditions ?? [];
      return conditions.some((one) => one.type === type && wanted(one));
    },
    { timeoutMs: 120_000 },
  );
}
