/** Makes a test cluster serve the kinds of Flux and Argo CD. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocuments } from '../../src/core/yaml/index.ts';
import { crdFolders } from '../core/schema/generate-crds.ts';
import type { Api } from './api.ts';
import { readSettled } from './settled.ts';

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** How many kinds are served now; undefined when their Go modules are not here. */
export async function installCrds(api: Api): Promise<number | undefined> {
  const folders = crdFolders();
  if (folders === undefined) return undefined;
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
      .map((file) => join(folder, file)),
  );
  const texts = files.flatMap((file) =>
    readDocuments(readFileSync(file, 'utf8')).flatMap((one) => (one.kind === 'value' ? [one.text] : [])),
  );
  const names = await Promise.all(
    texts.map(async (text) => {
      const answer = await api.createText(collection, text);
      if (answer.kind === 'refused') throw new Error(`a CRD was refused: ${answer.message}`);
      const { metadata } = answer.object;
      return String(
        typeof metadata === 'object' && metadata !== null && 'name' in metadata ? metadata.name : '',
      );
    }),
  );
  await Promise.all(names.map((name) => readSettled(api, `${collection}/${name}`)));
  return names.length;
}
