import assert from 'node:assert/strict';
import { couldDescribe } from '../../../src/core/folder/unclear.ts';

const deployment = (name: string) => ({ group: 'apps', kind: 'Deployment', namespace: 'shop', name });

describe('an unreadable text', () => {
  const template =
    '{{- if .Values.on }}\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}-extra}\n{{- end }}\n';

  it('could describe an object whose kind and name stand in it', () => {
    assert.ok(couldDescribe('t.yaml', 'kind: Deployment\nmetadata:\n  name: web\n  oops', deployment('web')));
    assert.ok(couldDescribe('t.yaml', '{"kind":"Deployment","metadata":{"name":"web"}}', deployment('web')));
    assert.ok(
      couldDescribe(
        't.yaml',
        '- kind: "Deployment"\n  metadata: {name: web, namespace: x',
        deployment('web'),
      ),
    );
  });

  it('could describe an object whose name fits a template with a fixed part', () => {
    assert.ok(couldDescribe('t.yaml', template, deployment('shop-extra')));
    assert.ok(
      couldDescribe(
        't.yaml',
        'kind: Deployment\nmetadata:\n  name: "\u0024{app}-web" # it\n',
        deployment('shop-web'),
      ),
    );
    assert.ok(!couldDescribe('t.yaml', template, deployment('extra-shop')));
  });

  it('does not describe parts of names, other kinds, or everything', () => {
    assert.ok(!couldDescribe('t.yaml', template, deployment('ok')));
    assert.ok(!couldDescribe('t.yaml', 'kind: Deployment\nname: web-2 my-web web.1', deployment('web')));
    assert.ok(!couldDescribe('t.yaml', 'kind: DeploymentConfig\nname: web', deployment('web')));
    assert.ok(!couldDescribe('t.yaml', 'kind: Deployment\nname: {{ .Release.Name }}\n', deployment('web')));
  });

  it('that is JSON describes exactly the objects in it, and none when it is no manifest', () => {
    const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };
    const list = { apiVersion: 'v1', kind: 'List', items: [web] };
    assert.ok(couldDescribe('a.json', JSON.stringify(web), deployment('web')));
    assert.ok(couldDescribe('a.json', JSON.stringify(list), deployment('web')));
    assert.ok(couldDescribe('a.json', JSON.stringify([web]), deployment('web')));
    assert.ok(!couldDescribe('a.json', JSON.stringify({ title: 'Deployment web' }), deployment('web')));
    assert.ok(!couldDescribe('a.json', '{"kind": "Deployment", "name": "web"', deployment('web')));
    const other = { ...web, metadata: { name: 'web', namespace: 'other' } };
    assert.ok(!couldDescribe('a.json', JSON.stringify(other), deployment('web')));
  });

  it('with many expressions in a name takes no time', () => {
    const name = `${'a{{x}}'.repeat(100)}b`;
    assert.ok(!couldDescribe('t.yaml', `kind: Deployment\nname: ${name}\n`, deployment('a'.repeat(250))));
  });
});
