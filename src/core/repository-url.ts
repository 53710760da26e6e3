/**
 * Addresses of Git repositories: what we accept, when two of them name one repository, and how we print them.
 *
 * Core: text in, values out. git/ hands `remote` to git; the worker and the gate compare by `key`.
 */

type RepositoryScheme = 'https' | 'http' | 'ssh' | 'file';

export interface RepositoryUrl {
  readonly scheme: RepositoryScheme;
  /** Lower-case; IPv6 in brackets; '' for file. */
  readonly host: string;
  /** Undefined when it is the scheme's own. */
  readonly port: number | undefined;
  /** The login name of an ssh address; undefined for all others. */
  readonly user: string | undefined;
  /** Equal for two addresses that name one repository. */
  readonly key: string;
  /** What git is given. Never holds a password. */
  readonly remote: string;
}

export interface UrlRules {
  readonly allowHttp?: boolean;
  /** Only for tests: a repository on this machine. */
  readonly allowFile?: boolean;
}

export type UrlCheck =
  | { readonly ok: true; readonly url: RepositoryUrl }
  | { readonly ok: false; readonly message: string };

const defaultPorts: Readonly<Record<RepositoryScheme, number | undefined>> = {
  https: 443,
  http: 80,
  ssh: 22,
  file: undefined,
};
const maxUrlLength = 2048;

// A name that starts with a dash would be read as an option by ssh.
const hostShape = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/;
const userShape = /^[A-Za-z0-9_][A-Za-z0-9._+@-]*$/;

interface Parts {
  readonly scheme: string;
  readonly user: string | undefined;
  readonly password: boolean;
  readonly host: string;
  readonly port: string | undefined;
  readonly path: string;
}

/** Reads an address as GitProvider states it. The message of a failure names what to write instead, and no password. */
export function parseRepositoryUrl(text: string, rules: UrlRules = {}): UrlCheck {
  const address = redactUrl(text);
  const no = (why: string): UrlCheck => ({
    ok: false,
    message: `repository URL ${JSON.stringify(address)} ${why}`,
  });
  if (text.length > maxUrlLength)
    return { ok: false, message: `repository URL is longer than ${maxUrlLength} characters` };
  if (/[\s\u0000-\u001f\u007f]/.test(text)) return no('holds a blank or a control character');
  const parts = split(text);
  if (parts === undefined) return no('is none of https://HOST/PATH, ssh://USER@HOST/PATH and USER@HOST:PATH');
  const { scheme } = parts;
  if (!isScheme(scheme)) return no(`has the scheme ${scheme}; use https or ssh`);
  if (scheme === 'http' && !rules.allowHttp) {
    return no('is not encrypted; use https, or allow http with --insecure-allow-git-http');
  }
  if (scheme === 'file' && !rules.allowFile) return no('names a folder; use https or ssh');
  if (parts.password) return no('holds a password; put it in the Secret of secretRef');
  if (/[?#]/.test(parts.path)) return no('holds a query or a fragment');
  const path = parts.path.replace(/^\/+|\/+$/g, '');
  if (path === '' || path === '.git') return no('has no path');
  if (path.startsWith('-')) return no('has a path that starts with a dash');
  if (scheme === 'file') {
    const remote = `file:///${path}`;
    return {
      ok: true,
      url: { scheme, host: '', port: undefined, user: undefined, key: keyOf('', undefined, path), remote },
    };
  }
  const host = parts.host.toLowerCase();
  if (!hostShape.test(host)) return no('has no usable host name');
  const port = portOf(scheme, parts.port);
  if (port === 'invalid') return no('has no usable port');
  if (parts.user !== undefined && !userShape.test(parts.user)) return no('has no usable user name');
  const user = scheme === 'ssh' ? parts.user : undefined;
  const authority = `${user === undefined ? '' : `${user}@`}${host}${port === undefined ? '' : `:${port}`}`;
  const remote = `${scheme}://${authority}${parts.path.startsWith('/') ? '' : '/'}${parts.path}`;
  return { ok: true, url: { scheme, host, port, user, key: keyOf(host, port, path), remote } };
}

/**
 * The key of an address in any spelling: without scheme, user, default port, trailing slashes and `.git`. Undefined
 * when the text is no address. The path keeps its case, since some hosts tell `a/B` from `a/b`.
 */
export function normaliseRepositoryUrl(text: string): string | undefined {
  const parts = split(text.trim());
  if (parts === undefined || !isScheme(parts.scheme)) return undefined;
  const port = portOf(parts.scheme, parts.port);
  if (port === 'invalid') return undefined;
  const path = parts.path.replace(/[?#].*$/, '');
  return keyOf(parts.host.toLowerCase(), port, path);
}

/** The address without user and password; an ssh login name stays, it is no secret. Works on any text. */
export function redactUrl(text: string): string {
  return redactUrls(text.replace(/^([^/@:\s]+):[^/@\s]*@(?=[^/\s]*:)/, '$1@'));
}

/** Takes user and password out of every URL in a text. */
export function redactUrls(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)([^/\s'"]*)@/gi, (_match, scheme: string, login: string) => {
    const user = login.split(':')[0] ?? '';
    return scheme.toLowerCase().includes('ssh') && userShape.test(user) ? `${scheme}${user}@` : scheme;
  });
}

function split(text: string): Parts | undefined {
  const url = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/]*)(\/.*)?$/.exec(text);
  if (url) {
    const [, scheme = '', authority = '', path = ''] = url;
    return { scheme: schemeName(scheme), path, ...splitAuthority(authority) };
  }
  // `host:path` as scp and git read it: the colon comes before the first slash.
  const scp = /^((?:[^/@:[\]]+(?::[^/@]*)?@)?)(\[[^\]/]+\]|[^/:@[\]]+):(?!:)(.+)$/.exec(text);
  if (!scp) return undefined;
  const [, login = '', host = '', path = ''] = scp;
  return { scheme: 'ssh', path, ...splitAuthority(`${login}${host}`) };
}

function splitAuthority(authority: string): Omit<Parts, 'scheme' | 'path'> {
  const at = authority.lastIndexOf('@');
  const login = at < 0 ? undefined : authority.slice(0, at);
  const rest = authority.slice(at + 1);
  const match = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(rest);
  const colon = login?.indexOf(':') ?? -1;
  return {
    user: colon < 0 ? login : login?.slice(0, colon),
    password: colon >= 0,
    host: match?.[1] ?? rest,
    port: match?.[2],
  };
}

function schemeName(scheme: string): string {
  const name = scheme.toLowerCase();
  return name === 'git+ssh' || name === 'ssh+git' ? 'ssh' : name;
}

function isScheme(scheme: string): scheme is RepositoryScheme {
  return Object.hasOwn(defaultPorts, scheme);
}

function portOf(scheme: RepositoryScheme, text: string | undefined): number | undefined | 'invalid' {
  if (text === undefined || text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) return 'invalid';
  return port === defaultPorts[scheme] ? undefined : port;
}

function keyOf(host: string, port: number | undefined, path: string): string {
  const trimmed = decoded(path)
    .replace(/\/{2,}/g, '/')
    .replace(/^\/|\/$/g, '')
    .replace(/\.git$/, '')
    .replace(/\/$/, '');
  return `${host}${port === undefined ? '' : `:${port}`}/${trimmed}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
