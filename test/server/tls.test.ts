import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { createListener } from '../../src/server/tls.ts';
import { silentLog } from '../../src/telemetry/log.ts';
import { type Certificate, makeCertificate } from '../cluster/certificate.ts';
import { type Folder, temporaryFolder } from '../cluster/folder.ts';
import { until } from '../cluster/wait.ts';

describe('a listener with TLS', () => {
  const folders: Folder[] = [];
  let server: Server | undefined;
  afterEach(async () => {
    server?.close();
    for (const folder of folders.splice(0)) await folder.remove();
  });

  async function certificate(): Promise<Certificate> {
    const folder = temporaryFolder('tls');
    folders.push(folder);
    return await makeCertificate(folder.path);
  }

  async function start(tls: Certificate): Promise<number> {
    server = await createListener({}, tls, silentLog(), (_message, answer) => answer.end('ok'), 10);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Serial number of the certificate that is shown to a new connection. */
  async function shown(port: number): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  it('takes up a renewed certificate, and keeps the old one while the files are half written', async () => {
    const [first, second] = [await certificate(), await certificate()];
    const port = await start(first);
    const before = await shown(port);
    writeFileSync(first.certFile, readFileSync(first.certFile).subarray(0, 100));
    for (let again = 0; again < 5; again++) assert.equal(await shown(port), before);
    copyFileSync(second.keyFile, first.keyFile);
    copyFileSync(second.certFile, first.certFile);
    await until('the new certificate is shown', async () => (await shown(port)) !== before);
    const renewed = await shown(port);
    server?.close();
    assert.equal(renewed, await shown(await start(second)));
  });

  it('does not start with files that are no certificate', async () => {
    const broken = await certificate();
    writeFileSync(broken.certFile, 'not PEM');
    await assert.rejects(start(broken));
  });
});
