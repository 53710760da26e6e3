import assert from 'node:assert/strict';
import { type Config, parseConfig } from '../../src/config.ts';

function problems(options: Record<string, string>): readonly string[] {
  const parsed = parseConfig(options);
  return parsed.ok ? [] : parsed.problems;
}

function config(options: Record<string, string>): Config {
  const parsed = parseConfig(options);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problems.join());
  return parsed.config;
}

describe('the flags of run', () => {
  it('reads addresses of both families, and 0 as off', () => {
    assert.deepEqual(config({ healthBindAddress: ':9796' }).healthBindAddress, {
      host: '0.0.0.0',
      port: 9796,
    });
    assert.deepEqual(config({ healthBindAddress: '[::]:9796' }).healthBindAddress, {
      host: '::',
      port: 9796,
    });
    assert.equal(config({ healthBindAddress: '0' }).healthBindAddress, undefined);
    assert.match(
      problems({ healthBindAddress: '[::1:9796' }).join(),
      /--health-bind-address: .*not HOST:PORT/,
    );
  });

  it('asks for a token and an address with the listener for replicas', () => {
    const peer = { peerBindAddress: ':9799', peerTokenFile: '/token' };
    assert.match(problems({ ...peer, peerTokenFile: '' }).join(), /needs --pod-ip/);
    assert.match(
      problems({ peerBindAddress: '10.0.0.1:9799' }).join(),
      /--peer-bind-address: needs --peer-token-file/,
    );
    assert.deepEqual(problems({ ...peer, podIp: '10.0.0.1' }), []);
    assert.deepEqual(problems({ ...peer, peerBindAddress: '10.0.0.1:9799' }), []);
  });

  it('lets the gate’s token cross the network only with TLS', () => {
    const gate = { gateTokenFile: '/token', gateBindAddress: ':9797' };
    const tls = { tlsCertFile: '/tls.crt', tlsKeyFile: '/tls.key' };
    assert.match(problems(gate).join(), /--gate-bind-address: .*in clear; give --tls-cert-file/);
    for (const address of ['127.0.0.1:9797', '[::1]:9797', 'localhost:9797', 'unix:/run/gate.sock', '0'])
      assert.deepEqual(problems({ ...gate, gateBindAddress: address }), [], address);
    assert.deepEqual(problems({ ...gate, ...tls }), []);
    assert.match(problems({ ...gate, tlsCertFile: '/tls.crt' }).join(), /go together/);
  });

  it('asks for the authority where replicas must recognise each other', () => {
    const tls = { tlsCertFile: '/tls.crt', tlsKeyFile: '/tls.key' };
    const peer = { peerBindAddress: '10.0.0.1:9799', peerTokenFile: '/token' };
    assert.match(problems({ ...tls, ...peer }).join(), /--tls-ca-file: is needed/);
    assert.deepEqual(problems({ ...tls, ...peer, tlsCaFile: '/ca.crt' }), []);
  });
});
