/**
 * Host keys to trust, in the format of ssh's known_hosts files. Read strictly: a broken line would otherwise be a
 * silent "unknown host" at the next push.
 */

export interface KnownHosts {
  readonly text: string;
}

export type KnownHostsRead =
  | { readonly ok: true; readonly knownHosts: KnownHosts }
  | { readonly ok: false; readonly message: string };

/** A place where known host keys may stand; text undefined = it has none. */
export interface KnownHostsSource {
  readonly where: string;
  readonly text: string | undefined;
}

export type KnownHostsChoice =
  | { readonly ok: true; readonly knownHosts: KnownHosts | undefined }
  | { readonly ok: false; readonly message: string };

const maxLines = 5_000;

/** The data of a ConfigMap or a decoded Secret named by knownHostsRef: `known_hosts`, else `ssh_known_hosts`. */
export function knownHostsIn(data: Readonly<Record<string, string>>): string | undefined {
  return data.known_hosts ?? data.ssh_known_hosts;
}

/** The first source that has any. One that is there but broken is an error, never skipped. */
export function chooseKnownHosts(sources: readonly KnownHostsSource[]): KnownHostsChoice {
  for (const { where, text } of sources) {
    if (text === undefined) continue;
    const read = parseKnownHosts(text);
    return read.ok ? read : { ok: false, message: `${where}: ${read.message}` };
  }
  return { ok: true, knownHosts: undefined };
}

export function parseKnownHosts(text: string): KnownHostsRead {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.length > maxLines) return { ok: false, message: `more than ${maxLines} lines` };
  const kept: string[] = [];
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const problem = problemOf(line);
    if (problem !== undefined) return { ok: false, message: `line ${index + 1} ${problem}` };
    kept.push(line);
  }
  if (kept.length === 0) return { ok: false, message: 'no host key in it' };
  return { ok: true, knownHosts: { text: `${kept.join('\n')}\n` } };
}

function problemOf(line: string): string | undefined {
  const fields = line.split(/[ \t]+/);
  if (fields[0]?.startsWith('@')) {
    if (fields[0] !== '@cert-authority' && fields[0] !== '@revoked') return 'has an unknown marker';
    fields.shift();
  }
  const [hosts = '', type = '', key = ''] = fields;
  if (hosts === '' || type === '' || key === '') return 'is not "HOSTS TYPE KEY"';
  const blob = Buffer.from(key, 'base64');
  if (blob.toString('base64').replace(/=+$/, '') !== key.replace(/=+$/, ''))
    return 'has a key that is not base64';
  // The key names its own type in its first field.
  const length = blob.length >= 4 ? blob.readUInt32BE(0) : 0;
  if (blob.subarray(4, 4 + length).toString('latin1') !== type)
    return 'has a key of another type than it says';
  return undefined;
}
