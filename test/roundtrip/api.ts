/**
 * The API server as the people and programs of the round trip use it: manifests go there as the YAML they are, so that the
 * server's own reader says what they mean.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { ObjectId } from '../../src/core/identity.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../src/core/json.ts';
import type { ControlPlane } from '../cluster/control-plane.ts';

export type Answer =
  | { readonly kind: 'ok'; readonly object: JsonObject }
  /** `reason` is the server's word: Invalid, BadRequest, NotFound, … */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

/** The URL path of one object. */
export type Place = string;

interface Body {
  readonly type: string;
  readonly text: string;
}

export interface Api {
  /** The path of an object's collection; undefined when the server does not serve the kind. */
  collection(apiVersion: string, id: ObjectId): Promise<string | undefined>;
  isNamespaced(apiVersion: string, kind: string): Promise<boolean>;
  /** Like `kubectl create`, with the text as it stands in the file. */
  createText(collection: string, text: string): Promise<Answer>;
  create(collection: string, object: JsonObject): Promise<Answer>;
  /** Server-side apply, as Flux does it. */
  apply(place: Place, object: JsonObject, fieldManager: string): Promise<Answer>;
  /** Like `kubectl edit`. */
  edit(place: Place, patch: readonly JsonObject[]): Promise<Answer>;
  get(place: Place): Promise<Answer>;
  delete(place: Place): Promise<Answer>;
  close(): void;
}

interface Resource {
  readonly plural: string;
  readonly namespaced: boolean;
}

export function apiOf(cluster: ControlPlane): Api {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(cluster.caFile) });
  const token = cluster.token('admin');
  const resources = new Map<string, Resource>();

  function call(method: string, path: string, body?: Body): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': body.type };
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json', ...type };
      const asked = request(`${cluster.url}${path}`, { method, headers, agent }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => resolve(read(answer.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'))));
      });
      asked.setTimeout(30_000, () => asked.destroy(new Error(`no answer to ${method} ${path}`)));
      asked.on('error', reject);
      asked.end(body?.text);
    });
  }

  async function resourceOf(apiVersion: string, kind: string): Promise<Resource | undefined> {
    const key = `${apiVersion}/${kind}`;
    if (!resources.has(key)) {
      const answer = await call('GET', rootOf(apiVersion));
      const list = answer.kind === 'ok' ? answer.object.resources : [];
      for (const one of Array.isArray(list) ? list.filter(isObject) : []) {
        const plural = String(one.name);
        if (plural.includes('/')) continue;
        resources.set(`${apiVersion}/${String(one.kind)}`, { plural, namespaced: one.namespaced === true });
      }
    }
    return resources.get(key);
  }

  return {
    async collection(apiVersion, id) {
      const found = await resourceOf(apiVersion, id.kind);
      if (found === undefined) return undefined;
      const scope = found.namespaced ? `/namespaces/${id.namespace}` : '';
      return `${rootOf(apiVersion)}${scope}/${found.plural}`;
    },
    isNamespaced: async (apiVersion, kind) => (await resourceOf(apiVersion, kind))?.namespaced ?? true,
    createText: (collection, text) =>
      call('POST', `${collection}?fieldManager=kubectl-create`, { type: 'application/yaml', text }),
    create: (collection, object) =>
      call('POST', `${collection}?fieldManager=kubectl-create`, {
        type: 'application/json',
        text: printJson(object),
      }),
    apply: (place, object, fieldManager) =>
      call('PATCH', `${place}?fieldManager=${fieldManager}&force=true`, {
        type: 'application/apply-patch+yaml',
        text: printJson(object),
      }),
    edit: (place, patch) =>
      call('PATCH', `${place}?fieldManager=kubectl-edit`, {
        type: 'application/json-patch+json',
        text: printJson([...patch]),
      }),
    get: (place) => call('GET', place),
    delete: (place) => call('DELETE', `${place}?propagationPolicy=Background`),
    close: () => agent.destroy(),
  };
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function read(status: number, text: string): Answer {
  const body: Json = text.startsWith('{') ? parseJson(text) : text;
  if (status < 300 && isObject(body)) return { kind: 'ok', object: body };
  const { reason = '', message = '' } = isObject(body) ? body : { message: text };
  return { kind: 'refused', reason: String(reason) || `HTTP ${status}`, message: String(message) };
}
