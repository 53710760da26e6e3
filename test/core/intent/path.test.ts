import assert from 'node:assert/strict';
import { formatPath } from '../../../src/core/intent/index.ts';
import { read } from './scene.ts';

describe('a path for people', () => {
  const object = read(`
metadata: {annotations: {a.b/c: x}}
spec:
  ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}, {name: http, port: 80}]
  template: {spec: {containers: [{name: app, env: [{name: REGION, value: eu}], volumeMounts: [{mountPath: /etc/x}]}]}}
  list: [a, {name: two words}, {value: 1}]
`);
  const table: [(string | number)[], string][] = [
    [
      ['spec', 'template', 'spec', 'containers', 0, 'env', 0, 'value'],
      'spec.template.spec.containers[app].env[REGION].value',
    ],
    [['metadata', 'annotations', 'a.b/c'], 'metadata.annotations["a.b/c"]'],
    [['spec', 'ports', 1, 'targetPort'], 'spec.ports[53/TCP].targetPort'],
    [['spec', 'ports', 2], 'spec.ports[http]'],
    [
      ['spec', 'template', 'spec', 'containers', 0, 'volumeMounts', 0],
      'spec.template.spec.containers[app].volumeMounts[/etc/x]',
    ],
    [['spec', 'list', 0], 'spec.list[0]'],
    [['spec', 'list', 1], 'spec.list["two words"]'],
    [['spec', 'list', 2, 'value'], 'spec.list[2].value'],
    [['spec', 'list', 9, 'x'], 'spec.list[9].x'],
    [['spec', 'values', 'a[0]'], 'spec.values["a[0]"]'],
    [['data', 'plain-key_1'], 'data.plain-key_1'],
    [[], ''],
  ];
  for (const [path, expected] of table) {
    it(`reads ${expected === '' ? 'the object itself' : expected}`, () =>
      assert.equal(formatPath(path, object), expected));
  }

  it('has positions where no object is given', () => {
    assert.equal(formatPath(['spec', 'containers', 0, 'image']), 'spec.containers[0].image');
  });
});
