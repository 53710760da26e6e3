import assert from 'node:assert/strict';
import { couldDescribe } from '../../../src/core/folder/lookup.ts';

const deployment = (name: string) => ({ group: 'apps', kind: 'Deployment', namespace: 'shop', name });

describe('an unreadable text', () => {
  const template =
    '{{- if .Values.on }}\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}-extra}\n{{- end }}\n';

  it('could describe an object whose kind and name stand in it', () => {
    assert.ok(couldDescribe('kind: Deployment\nmetadata:\n  name: web\n  oops', deployment('web')));
    assert.ok(couldDescribe('{"kind":"Deployment","metadata":{"name":"web"}}', deployment('web')));
    assert.ok(couldDescribe('- kind: "Deployment"\n  metadata: {name: web, namespace: x', deployment('web')));
  });

  it('could describe an object whose name fits a template with a fixed part', () => {
    assert.ok(couldDescribe(template, deployment('shop-extra')));
    assert.ok(
      couldDescribe('kind: Deployment\nmetadata:\n  name: "${app}-web" # it\n', deployment('shop-web')),
    );
    assert.ok(!couldDescribe(template, deployment('extra-shop')));
  });

  it('does not describe parts of names, other kinds, or everything', () => {
    assert.ok(!couldDescribe(template, deployment('ok')));
    assert.ok(!couldDescribe('kind: Deployment\nname: web-2 my-web web.1', deployment('web')));
    assert.ok(!couldDescribe('kind: DeploymentConfig\nname: web', deployment('web')));
    assert.ok(!couldDescribe('kind: Deployment\nname: {{ .Release.Name }}\n', deployment('web')));
  });
});
