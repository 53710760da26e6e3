/**
 * Reads the configuration of a cluster: from the pod, from files, or from text in a Secret.
 *
 * Text of others is not trusted: running programs, skipping TLS checks and reading our files are refused unless the
 * operator opted in. What is refused comes back as a reason, and nothing is dialled here.
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { isRecord, text } from './loose.ts';
import { ApiServerConfig } from './transport.ts';

export type KubeConfigSource =
  | { readonly from: 'in-cluster' }
  /** One kubeconfig file; its relative paths count from its folder. */
  | { readonly from: 'file'; readonly path: string }
  /** The content of a Secret. */
  | { readonly from: 'text'; readonly text: string };

export interface KubeConfigPolicy {
  readonly allowExec: boolean;
  readonly allowInsecureTLS: boolean;
  readonly allowFileReferences: boolean;
}

/** For content that others wrote. */
export const strictPolicy: KubeConfigPolicy = {
  allowExec: false,
  allowInsecureTLS: false,
  allowFileReferences: false,
};

export type KubeConfigReason =
  | 'KubeConfigInvalid'
  | 'KubeConfigExecNotAllowed'
  | 'KubeConfigInsecureTLSNotAllowed'
  | 'KubeConfigFileReferenceNotAllowed';

export type KubeConfigResult =
  | { readonly ok: true; readonly config: ApiServerConfig }
  | { readonly ok: false; readonly reason: KubeConfigReason; readonly message: string };

type Refused = Extract<KubeConfigResult, { ok: false }>;
type Fields = Readonly<Record<string, unknown>>;

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const sizeLimit = 1024 * 1024;

export function loadKubeConfig(source: KubeConfigSource, policy: KubeConfigPolicy): KubeConfigResult {
  switch (source.from) {
    case 'in-cluster':
      return loadInCluster();
    case 'file':
      return loadFile(source.path, policy);
    case 'text':
      return loadText(source.text, '', policy);
  }
}

function loadInCluster(): KubeConfigResult {
  const config = new ApiServerConfig();
  config.loadFromCluster();
  const server = config.getCurrentCluster()?.server ?? '';
  if (!URL.canParse(server) || server.includes('undefined')) {
    return invalid('not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set');
  }
  if (readOptional(join(serviceAccountFolder, 'token')) === undefined) {
    return invalid(
      `no service account token in ${serviceAccountFolder}; is automountServiceAccountToken off?`,
    );
  }
  return { ok: true, config };
}

function loadFile(path: string, policy: KubeConfigPolicy): KubeConfigResult {
  const content = readOptional(path);
  return content === undefined
    ? invalid(`the kubeconfig ${path} cannot be read`)
    : loadText(content, dirname(path), policy);
}

function loadText(content: string, folder: string, policy: KubeConfigPolicy): KubeConfigResult {
  if (content.length > sizeLimit) return invalid(`the kubeconfig is larger than ${sizeLimit} bytes`);
  const document = parse(content);
  if (!isRecord(document)) return invalid('the kubeconfig is not a YAML mapping');
  const contextName = text(document['current-context']);
  const context = named(document.contexts, contextName, 'context');
  if (context === undefined) return invalid('the kubeconfig has no context of the name in current-context');
  const cluster = named(document.clusters, text(context.cluster), 'cluster');
  const server = text(cluster?.server);
  if (cluster === undefined || !URL.canParse(server)) {
    return invalid('the cluster of the current context is missing or has no usable server URL');
  }
  const user = text(context.user) === '' ? {} : named(document.users, text(context.user), 'user');
  if (user === undefined) return invalid('the user of the current context is missing');
  const refused = judge(cluster, user, policy);
  if (refused !== undefined) return refused;
  const config = new ApiServerConfig();
  config.loadFromOptions({
    clusters: [toCluster(cluster, server, folder)],
    users: [toUser(user, folder)],
    contexts: [{ name: 'current', cluster: 'cluster', user: 'user', namespace: text(context.namespace) }],
    currentContext: 'current',
  });
  return { ok: true, config };
}

function judge(cluster: Fields, user: Fields, policy: KubeConfigPolicy): Refused | undefined {
  const provider = isRecord(user['auth-provider']) ? user['auth-provider'] : {};
  const providerConfig = isRecord(provider.config) ? provider.config : {};
  // The old provider plugins run a program when one of these is set.
  const runs = user.exec ?? providerConfig.exec ?? providerConfig['cmd-path'];
  if (runs !== undefined && runs !== null && !policy.allowExec) {
    return refused('KubeConfigExecNotAllowed', 'the user runs a program (exec) to get its credentials');
  }
  const plain = !text(cluster.server).startsWith('https:');
  if ((plain || cluster['insecure-skip-tls-verify'] === true) && !policy.allowInsecureTLS) {
    const how = plain ? 'the server URL is not https' : 'insecure-skip-tls-verify is set';
    return refused('KubeConfigInsecureTLSNotAllowed', how);
  }
  const file = fileReferences.find(
    (name) => text(cluster[name]) !== '' || text(user[name]) !== '' || text(providerConfig[name]) !== '',
  );
  if (file !== undefined && !policy.allowFileReferences) {
    return refused(
      'KubeConfigFileReferenceNotAllowed',
      `${file} names a file; put the content into the kubeconfig`,
    );
  }
  const unsupported = ['as-groups', 'as-uid', 'as-user-extra'].find((name) => user[name] !== undefined);
  if (unsupported !== undefined)
    return invalid(`${unsupported} is not supported; bind the rights to the user itself`);
  return undefined;
}

const fileReferences = [
  'certificate-authority',
  'client-certificate',
  'client-key',
  'tokenFile',
  'token-file',
  'idp-certificate-authority',
] as const;

function toCluster(cluster: Fields, server: string, folder: string): Cluster {
  const plain = !server.startsWith('https:');
  return {
    name: 'cluster',
    server: server.replace(/\/+$/, ''),
    // client-node speaks plain HTTP only under this flag.
    skipTLSVerify: plain || cluster['insecure-skip-tls-verify'] === true,
    ...given('caData', text(cluster['certificate-authority-data'])),
    ...given('caFile', absolute(folder, text(cluster['certificate-authority']))),
    ...given('tlsServerName', text(cluster['tls-server-name'])),
    ...given('proxyUrl', text(cluster['proxy-url'])),
  };
}

function toUser(user: Fields, folder: string): User {
  const tokenFile = absolute(folder, text(user.tokenFile) || text(user['token-file']));
  return {
    name: 'user',
    ...given('certData', text(user['client-certificate-data'])),
    ...given('certFile', absolute(folder, text(user['client-certificate']))),
    ...given('keyData', text(user['client-key-data'])),
    ...given('keyFile', absolute(folder, text(user['client-key']))),
    ...given('username', text(user.username)),
    ...given('password', text(user.password)),
    ...given('impersonateUser', text(user.as)),
    ...(isRecord(user.exec) ? { exec: user.exec } : {}),
    // A file goes before a token, as in client-go; this provider reads it again every minute.
    ...(tokenFile === ''
      ? { ...given('token', text(user.token)), authProvider: user['auth-provider'] }
      : { authProvider: { name: 'tokenFile', config: { tokenFile } } }),
  };
}

function given<Key extends string>(key: Key, value: string): Partial<Record<Key, string>> {
  return value === '' ? {} : ({ [key]: value } as Record<Key, string>);
}

function absolute(folder: string, path: string): string {
  return path === '' || isAbsolute(path) ? path : join(folder, path);
}

function named(list: unknown, name: string, key: string): Fields | undefined {
  if (!Array.isArray(list)) return undefined;
  const entry = list.find((item) => isRecord(item) && item.name === name);
  return isRecord(entry) && isRecord(entry[key]) ? entry[key] : undefined;
}

// The parser's own message quotes the text, which holds credentials.
function parse(content: string): unknown {
  try {
    return load(content);
  } catch {
    return undefined;
  }
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function invalid(message: string): Refused {
  return refused('KubeConfigInvalid', message);
}

function refused(reason: KubeConfigReason, message: string): Refused {
  return { ok: false, reason, message };
}
