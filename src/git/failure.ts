/**
 * What went wrong, in our words: one table from git's, ssh's and curl's messages (C locale) to a reason.
 *
 * The only place that matches messages of other programs. Order matters: the first line that fits decides.
 */
import { redactUrls } from '../core/repository-url.ts';
import type { RunResult } from './run.ts';

export type GitFailureReason =
  | 'AuthenticationFailed'
  | 'HostKeyUnknown'
  | 'RepositoryNotFound'
  | 'RemoteUnreachable'
  | 'TimedOut'
  | 'Aborted'
  | 'DiskFull'
  | 'CorruptRepository'
  /** The caller asked for what the rules of this sidecar forbid; see the message. */
  | 'Refused'
  | 'Unknown';

export interface GitFailure {
  readonly kind: 'failed';
  readonly reason: GitFailureReason;
  /** One or a few lines for a person: bounded, without control characters, URLs without logins. */
  readonly message: string;
}

const maxMessageLength = 1_000;

const table: readonly (readonly [RegExp, GitFailureReason])[] = [
  [
    /No space left on device|Out of diskspace|Disk quota exceeded|ENOSPC|EDQUOT|file too large|File too large/,
    'DiskFull',
  ],
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No .* host key is known for/,
    'HostKeyUnknown',
  ],
  [
    /Permission denied \((?:publickey|password|keyboard)|Too many authentication failures/,
    'AuthenticationFailed',
  ],
  [/Load key ".*": (?:incorrect passphrase|error in libcrypto|invalid format)/, 'AuthenticationFailed'],
  [
    /Authentication failed for|could not read (?:Username|Password) for|terminal prompts disabled/,
    'AuthenticationFailed',
  ],
  [/returned error: 40[13]|HTTP Basic: Access denied|Invalid username or password/, 'AuthenticationFailed'],
  [
    /(?:write|read) access to (?:the )?repository (?:is )?(?:not granted|denied)|deploy key .*read.only|marked as read only/i,
    'AuthenticationFailed',
  ],
  [/returned error: 30\d|unable to update url base from redirection/, 'Refused'],
  [
    /remote: Repository not found|repository '.*' not found|returned error: 404|does not appear to be a git repository/i,
    'RepositoryNotFound',
  ],
  [
    /(?:project|repository) you were looking for could not be found|'.*' is not a git repository/i,
    'RepositoryNotFound',
  ],
  [/transport '.*' not allowed/, 'Refused'],
  [
    /Could not resolve host|Couldn't connect to server|Failed to connect|Connection (?:refused|reset|closed|timed out)/i,
    'RemoteUnreachable',
  ],
  [
    /Name or service not known|Temporary failure in name resolution|No route to host|Network is unreachable/,
    'RemoteUnreachable',
  ],
  [/Operation too slow|timed out|Timeout, server .* not responding/i, 'TimedOut'],
  [/certificate|SSL|TLS|gnutls/i, 'RemoteUnreachable'],
  [
    /loose object .* is corrupt|object file .* is empty|is corrupt|unable to read (?:tree|sha1 file)|missing (?:blob|tree|commit)|bad object|Could not read [0-9a-f]{40}|inflate: data stream error|packfile .* (?:cannot be accessed|does not match|claims to have)|not a git repository: |bad (?:config|numeric config)|bad tree object|invalid sha1 pointer|did not send all necessary objects|unable to find [0-9a-f]{40}|not a valid (?:commit|object|tree)/i,
    'CorruptRepository',
  ],
  [
    /returned error: 5\d\d|unexpected disconnect|hung up unexpectedly|RPC failed|early EOF|Empty reply from server|invalid (?:server response|index-pack output)|unable to access/i,
    'RemoteUnreachable',
  ],
  [/Could not read from remote repository/, 'RemoteUnreachable'],
];

/** Makes a failure of a git run that did not end well. `doing` completes "while ...". */
export function failureOf(result: RunResult, doing: string): GitFailure {
  if (result.ended === 'deadline')
    return failed('TimedOut', `git did not finish ${doing} in time and was ended`);
  if (result.ended === 'aborted') return failed('Aborted', `${doing} was called off`);
  if (result.ended === 'too-much-output') return failed('Unknown', `git printed too much while ${doing}`);
  return failureFrom(result.stderr, doing, result.code);
}

function failureFrom(stderr: string, doing: string, code: number | null = null): GitFailure {
  const said = cleanText(stderr);
  const reason = table.find(([pattern]) => pattern.test(said))?.[1] ?? 'Unknown';
  const text = said === '' ? `git ended with ${code === null ? 'a signal' : `exit code ${code}`}` : said;
  return failed(reason, `${doing}: ${text}`);
}

/** A disk that is full also breaks our own files. Undefined: the error is no such thing. */
export function diskFailure(error: unknown, doing: string): GitFailure | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined;
  return failed('DiskFull', `${doing}: no space left on the private volume`);
}

export function failed(reason: GitFailureReason, message: string): GitFailure {
  return { kind: 'failed', reason, message: bounded(message) };
}

/**
 * What another program said, fit to be shown: no terminal escapes, no control characters but line breaks, no logins in
 * URLs, bounded.
 */
export function cleanText(text: string): string {
  const plain = text
    // CSI and OSC sequences, then any other escape.
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-_]?/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
  const lines = plain
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  return bounded(redactUrls(lines.join('\n')));
}

function bounded(text: string): string {
  return text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength).toWellFormed()}…`;
}
