/** Import arrows only go down: core is pure, rims know neither each other nor who calls them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Room -> rooms it may import. `types:` allows types only. A room may always import itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  core: ['types:api'],
  api: ['core'],
  telemetry: ['core', 'api'],
  kube: ['core', 'telemetry'],
  git: ['core', 'telemetry'],
  render: ['core', 'telemetry'],
  seal: ['core', 'telemetry'],
  attribution: ['core', 'kube', 'telemetry'],
  appliers: ['core', 'kube', 'telemetry'],
  worker: ['core', 'kube', 'git', 'render', 'seal', 'appliers', 'attribution', 'telemetry'],
  controllers: ['core', 'api', 'kube', 'git', 'appliers', 'worker', 'telemetry', 'types:config.ts'],
  server: ['core', 'api', 'worker', 'telemetry', 'types:config.ts'],
  cli: [
    'core',
    'api',
    'kube',
    'git',
    'render',
    'seal',
    'worker',
    'appliers',
    'controllers',
    'server',
    'telemetry',
    'config.ts',
  ],
  'config.ts': ['api'],
  'main.ts': ['cli'],
};

/** Modules of Node that reach outside the process; core has none of them. */
const impure =
  /^node:(?:fs|net|http|https|http2|child_process|dns|os|timers|process|worker_threads|tls|cluster|readline)/;
/** Packages that only their own room may import. */
const ownedPackages: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['kube'],
  'simple-git': ['git'],
  express: ['server'],
  commander: ['cli', 'config.ts'],
  pino: ['telemetry'],
  'prom-client': ['telemetry', 'server'],
};

const root = join(import.meta.dirname, '..');
const source = join(root, 'src');

describe('the import arrows', () => {
  it('only go down', () => {
    assert.deepEqual(violations(readImports()), []);
  });

  it('reach every file of src', () => {
    assert.ok(readImports().length > 100, 'the imports were not read');
  });

  it('are refused when a rim imports another rim, core imports I/O, or a package leaves its room', () => {
    const wrong = [
      { from: 'git/a.ts', to: 'kube/b.ts', typeOnly: true },
      { from: 'core/a.ts', to: 'worker/b.ts', typeOnly: true },
      { from: 'core/a.ts', to: 'node:fs/promises', typeOnly: false },
      { from: 'core/a.ts', to: 'api/git-target.ts', typeOnly: false },
      { from: 'worker/a.ts', to: 'express', typeOnly: false },
      { from: 'newroom/a.ts', to: 'core/json.ts', typeOnly: false },
    ];
    assert.equal(violations(wrong).length, wrong.length);
  });
});

describe('core', () => {
  it('reads no clock and no randomness', () => {
    const impureCalls =
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bprocess\.|\bsetTimeout\(|\bfetch\(/;
    const found = sourceFiles('core').filter((file) =>
      impureCalls.test(withoutComments(readFileSync(join(source, file), 'utf8'))),
    );
    assert.deepEqual(found, []);
  });
});

function violations(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to, typeOnly }) => {
    const room = roomOf(from);
    const rules = allowed[room];
    if (rules === undefined) return [`${from}: the room ${room} has no rule; give it one`];
    if (to.startsWith('node:'))
      return room === 'core' && impure.test(to) ? [`${from} imports ${to}: core does no I/O`] : [];
    const target = roomOf(to);
    const owners = ownedPackages[packageOf(to)];
    if (owners !== undefined)
      return owners.includes(room) ? [] : [`${from} imports ${to}: only ${owners.join(', ')} may`];
    if (!to.endsWith('.ts') && !to.endsWith('.json')) return [];
    if (target === room || rules.includes(target) || (typeOnly && rules.includes(`types:${target}`)))
      return [];
    return [`${from} imports ${to}: ${room} may not know ${target}`];
  });
}

function readImports(): Import[] {
  return sourceFiles('').flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8');
    const statements = text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
    const lazy = text.matchAll(/\bimport\('([^']+)'\)/g);
    return [
      ...[...statements].map(([, type, to = '']) => ({
        from: file,
        to: resolve(file, to),
        typeOnly: type !== undefined,
      })),
      ...[...lazy].map(([, to = '']) => ({ from: file, to: resolve(file, to), typeOnly: false })),
    ];
  });
}

function sourceFiles(room: string): string[] {
  return readdirSync(join(source, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(room, file));
}

function resolve(file: string, to: string): string {
  return to.startsWith('.') ? relative('', normalize(join(dirname(file), to))) : to;
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? '';
}

function packageOf(name: string): string {
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? '');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
