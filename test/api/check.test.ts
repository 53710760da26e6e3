import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseDuration } from '../../src/api/duration.ts';
import { apiVersion } from '../../src/api/group.ts';
import { kindNamed } from '../../src/api/kinds.ts';
import { violationsOf } from '../../src/api/validate.ts';
import { problemLine } from '../../src/cli/check.ts';
import { checkText } from '../../src/cli/check-text.ts';
import { verdicts } from './verdicts.ts';

const samples = new URL('../../manifests/samples/', import.meta.url);

function lines(text: string): string[] {
  return checkText('f.yaml', text).problems.map(problemLine);
}

describe('the offline check', () => {
  for (const { name, kind, spec, refused } of verdicts) {
    it(`${kind}: ${refused === undefined ? 'accepts' : 'refuses'} ${name}`, () => {
      const definition = kindNamed(kind);
      assert.ok(definition);
      const found = violationsOf(definition, { apiVersion, kind, metadata: { name: 'x' }, spec });
      assert.equal(found.length === 0, refused === undefined, JSON.stringify(found));
    });
  }

  for (const file of readdirSync(samples)) {
    it(`finds nothing in the sample ${file}`, () => {
      const { problems, checked } = checkText(file, readFileSync(new URL(file, samples), 'utf8'));
      assert.deepEqual(problems, []);
      assert.equal(checked, 1);
    });
  }

  it('names file, line, object, field, problem and fix', () => {
    const text = [
      '# a comment',
      `apiVersion: ${apiVersion}`,
      'kind: GitTarget',
      'metadata:',
      '  name: t',
      '  namespace: shop',
      'spec:',
      '  gitProviderRef: {name: p}',
      '  branch: on',
      '  path: ../x',
      '  Suspend: true',
      '---',
      'kind: WatchRule',
      `apiVersion: ${apiVersion}`,
      'metadata: {name: w}',
      'spec:',
      '  rules:',
      '    - resources: [a]',
      '    - resources:',
      '        - pods/log',
    ].join('\n');
    assert.deepEqual(lines(text), [
      'f.yaml:9 GitTarget/shop/t: spec.branch: must be a text; put it in quotes',
      'f.yaml:10 GitTarget/shop/t: spec.path: must be relative and must not leave the repository: no leading / and no ..',
      'f.yaml:11 GitTarget/shop/t: spec.Suspend: unknown field; write suspend',
      'f.yaml:16 WatchRule/w: spec.gitTargetRef: is required; set it',
      'f.yaml:20 WatchRule/w: spec.rules[1].resources[0]: must be a plural resource name or *; no subresources and no other wildcards',
    ]);
  });

  it('passes over foreign kinds and says so', () => {
    const { problems, skipped } = checkText(
      'f.yaml',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n',
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(skipped, [{ file: 'f.yaml', line: 1, kind: 'ConfigMap', name: 'b/a' }]);
  });

  it('opens a List', () => {
    const item = `{apiVersion: ${apiVersion}, kind: GitBranch, metadata: {name: a}, spec: {}}`;
    const found = lines(`apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: Pod}\n  - ${item}\n`);
    assert.deepEqual(found, [
      'f.yaml:5 GitBranch/a: spec.gitProviderRef: is required; set it',
      'f.yaml:5 GitBranch/a: spec.branch: is required; set it',
    ]);
  });

  it('says what it cannot read', () => {
    assert.match(lines('a: [').join(), /^f\.yaml:1: no readable YAML: /);
    assert.deepEqual(lines('- a\n'), ['f.yaml:1: is no Kubernetes object: apiVersion and kind are needed']);
    assert.deepEqual(lines('# nothing\n---\n'), []);
  });

  it('judges placement and message templates, which the API server cannot', () => {
    const text = `apiVersion: ${apiVersion}
kind: GitTarget
metadata: {name: t}
spec:
  gitBranchRef: {name: b}
  path: live
  placement:
    byType:
      apps/v1/deployments: "{nope}.yaml"
  commit:
    message:
      reconcileTemplate: "{{.Revision}}"
`;
    const found = lines(text);
    assert.equal(found.length, 2);
    assert.match(
      found[0] ?? '',
      /^f\.yaml:9 GitTarget\/t: spec\.placement\.byType\["apps\/v1\/deployments"\]: .*nope/,
    );
    assert.match(
      found[1] ?? '',
      /^f\.yaml:12 GitTarget\/t: spec\.commit\.message\.reconcileTemplate: line 1, column 3: .*Revision/,
    );
  });
});

describe('an old spelling', () => {
  const cases: [string, string, string, RegExp][] = [
    [
      'ClusterProvider',
      'v1alpha1',
      '{inCluster: {}}',
      /kind: the kind ClusterProvider is now called KubeProvider; write kind: KubeProvider/,
    ],
    [
      'KubeProvider',
      'v1alpha1',
      '{inCluster: {}}',
      /apiVersion: configbutler.ai\/v1alpha1 is not served; write apiVersion: configbutler.ai\/v1alpha3/,
    ],
    ['KubeProvider', 'v1alpha2', '{inCluster: {}}', /configbutler.ai\/v1alpha2 is not served/],
    ['KubeProvider', 'v1alpha3', '{inCluster: {}, qps: 5}', /spec\.qps: .*write spec\.client\.qps/],
    [
      'KubeProvider',
      'v1alpha3',
      '{inCluster: {}, accessFrom: {}}',
      /write spec\.allowedGitTargets\[\]\.consumerNamespaces/,
    ],
    [
      'KubeProvider',
      'v1alpha3',
      '{inCluster: {}, allowAnySourceNamespace: true}',
      /write spec\.allowedGitTargets\[\]\.sourceNamespaces/,
    ],
    [
      'KubeProvider',
      'v1alpha3',
      '{inCluster: {}, commitRequests: Reconcile}',
      /spec\.commitRequests: is not served by this version/,
    ],
    [
      'GitProvider',
      'v1alpha3',
      '{url: "https://a/b", allowedBranches: [a], push: {commitWindow: 5s}}',
      /spec\.push: moved to GitTarget spec\.commit\.window/,
    ],
    ['GitTarget', 'v1alpha3', '{providerRef: {name: a}}', /spec\.providerRef: .*write spec\.gitProviderRef/],
    ['GitTarget', 'v1alpha3', '{clusterProviderRef: {name: a}}', /write spec\.kubeProviderRef/],
    [
      'GitTarget',
      'v1alpha3',
      '{applyTriggerRef: {name: a}}',
      /applierClaimRef, as it is now called, is not served/,
    ],
    [
      'GitTarget',
      'v1alpha3',
      '{commit: {message: {groupTemplate: x}}}',
      /write spec\.commit\.message\.liveTemplate/,
    ],
    [
      'GitTarget',
      'v1alpha3',
      '{gitProviderRef: {kind: GitProvider, name: x}}',
      /spec\.gitProviderRef\.kind: was removed/,
    ],
    [
      'WatchRule',
      'v1alpha3',
      '{targetRef: {name: a}, rules: [{resources: [a]}]}',
      /write spec\.gitTargetRef$/,
    ],
    [
      'WatchRule',
      'v1alpha3',
      '{rules: [{resources: [a], operations: [CREATE]}]}',
      /spec\.rules\[0\]\.operations: was removed/,
    ],
    [
      'ClusterWatchRule',
      'v1alpha3',
      '{rules: [{resources: [a], scope: Cluster}]}',
      /spec\.rules\[0\]\.scope: was removed/,
    ],
    [
      'FluxTrigger',
      'v1alpha3',
      '{}',
      /the kind FluxTrigger, now called FluxClaim, is not served by this version/,
    ],
    ['SaveRequest', 'v1alpha3', '{}', /now called CommitRequest, is not served/],
    ['CommitRequest', 'v1alpha3', '{}', /the kind CommitRequest is not served by this version/],
    ['Nonsense', 'v1alpha3', '{}', /there is no kind Nonsense/],
  ];
  for (const [kind, version, spec, expected] of cases) {
    it(`is explained: ${kind} ${version} ${spec}`, () => {
      const found = lines(
        `apiVersion: configbutler.ai/${version}\nkind: ${kind}\nmetadata: {name: x}\nspec: ${spec}\n`,
      );
      assert.ok(
        found.some((line) => expected.test(line)),
        found.join('\n'),
      );
    });
  }

  it('of a field is not told a second time as a missing field', () => {
    const spec = '{targetRef: {name: a}, rules: [{resources: [a]}]}';
    assert.equal(
      lines(`apiVersion: ${apiVersion}\nkind: WatchRule\nmetadata: {name: x}\nspec: ${spec}\n`).length,
      1,
    );
  });

  it('of a group is noticed', () => {
    const found = lines(
      'apiVersion: source.configbutler.ai/v1alpha1\nkind: SaveRequest\nmetadata: {name: x}\n',
    );
    assert.equal(found.length, 1);
  });
});

describe('the check command', () => {
  const program = `
    import { Command } from 'commander';
    import { checkCommand } from '${new URL('../../src/cli/check.ts', import.meta.url)}';
    await new Command('reverser').addCommand(checkCommand()).parseAsync();
  `;
  const root = fileURLToPath(new URL('../../', import.meta.url));

  function check(args: string[], input = '') {
    const argv = ['--input-type=module', '--eval', program, '--', 'check', ...args];
    const environment = { ...process.env, INIT_CWD: undefined };
    return spawnSync(process.execPath, argv, { cwd: root, input, encoding: 'utf8', env: environment });
  }

  it('ends with 0 and nothing to say when all is fine', () => {
    const { status, stdout, stderr } = check([
      'manifests/samples/gitbranch.yaml',
      'manifests/samples/watchrule.yaml',
    ]);
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
  });

  it('reads standard input, notes foreign kinds on stderr, ends with 2 on a problem', () => {
    const input = `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\napiVersion: ${apiVersion}\nkind: GitBranch\nmetadata: {name: b}\nspec: {gitProviderRef: {name: p}}\n`;
    const { status, stdout, stderr } = check(['-'], input);
    assert.equal(stdout, '-:8 GitBranch/b: spec.branch: is required; set it\n');
    assert.equal(stderr, '-:1 Pod/p: not one of our kinds, skipped\n');
    assert.equal(status, 2);
  });

  it('prints JSON', () => {
    const input = `apiVersion: ${apiVersion}\nkind: GitBranch\nmetadata: {name: b}\nspec: {gitProviderRef: {name: p}}\n`;
    const { stdout } = check(['--output', 'json', '-'], input);
    assert.deepEqual(JSON.parse(stdout), {
      problems: [
        {
          file: '-',
          line: 4,
          kind: 'GitBranch',
          name: 'b',
          field: 'spec.branch',
          problem: 'is required',
          fix: 'set it',
        },
      ],
      skipped: [],
    });
  });

  it('ends with 2 for a file that is not there, and for no file', () => {
    const missing = check(['no-such-file.yaml']);
    assert.equal(missing.status, 2);
    assert.equal(missing.stderr, 'check: no-such-file.yaml: no such file or folder\n');
    assert.equal(check([]).status, 2);
  });
});

describe('a duration', () => {
  const table: [string, number | undefined][] = [
    ['0s', 0],
    ['5s', 5000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['1µs', 0.001],
    ['1μs', 0.001],
    ['1us', 0.001],
    ['24h', 86_400_000],
    ['5', undefined],
    ['', undefined],
    ['-5s', undefined],
    ['5 s', undefined],
    ['1d', undefined],
    ['1.s', undefined],
    ['1'.repeat(40), undefined],
  ];
  for (const [text, milliseconds] of table) {
    it(`${JSON.stringify(text)} is ${milliseconds ?? 'none'}`, () =>
      assert.equal(parseDuration(text), milliseconds));
  }
});
