/** A certificate authority and a server certificate for loopback, made with openssl. */
import { join } from 'node:path';
import { runOk } from './run.ts';

export interface Certificate {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc,IP:10.0.0.1';

export async function makeCertificate(dir: string): Promise<Certificate> {
  const caFile = join(dir, 'ca.crt');
  const caKeyFile = join(dir, 'ca.key');
  const certFile = join(dir, 'tls.crt');
  const keyFile = join(dir, 'tls.key');
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30'.split(' ');
  const authority = ['-subj', '/CN=gitops-reverser test CA', '-keyout', caKeyFile, '-out', caFile];
  await runOk('openssl', [...request, ...authority]);
  const server = ['-subj', '/CN=localhost', '-keyout', keyFile, '-out', certFile];
  const extensions = ['-addext', names, '-addext', 'basicConstraints=critical,CA:FALSE'];
  await runOk('openssl', [...request, ...server, ...extensions, '-CA', caFile, '-CAkey', caKeyFile]);
  return { caFile, certFile, keyFile };
}
