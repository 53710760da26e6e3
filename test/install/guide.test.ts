/** The guide to installing says every flag, variable and role that the manifests use, and names only what exists. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { parseAllDocuments } from 'yaml';
import { addConfigOptions } from '../../src/config.ts';
import { isObject, type Json, type JsonObject, valueAt } from '../../src/core/json.ts';
import { list, manifests } from './pod.ts';

const guide = readFileSync(join(manifests, '../docs/guide/install.md'), 'utf8');
const files = readdirSync(manifests, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.yaml') && !/^(?:crds|samples|helm)\//.test(file),
);
const documents = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(manifests, file), 'utf8')).map((one): Json => one.toJS()),
);
const containers = documents.flatMap((one): JsonObject[] => {
  const spec = valueAt(one, ['spec', 'template', 'spec']);
  return isObject(spec) ? [...list(spec.containers), ...list(spec.initContainers)] : [];
});

describe('the guide to installing', () => {
  it('names every flag of the containers, and each is one that run has', () => {
    const command = addConfigOptions(new Command());
    const args = containers.flatMap(({ args }) => (Array.isArray(args) ? args.map(String) : []));
    const flags = args.flatMap((arg) => /^--[a-z-]+/.exec(arg)?.[0] ?? []);
    assert.ok(flags.length > 15, flags.join());
    for (const flag of new Set(flags)) {
      assert.ok(
        command.options.some(({ long }) => long === flag),
        `run has no ${flag}`,
      );
      assert.ok(flag === '--kubeconfig' || guide.includes(`\`${flag}\``), flag);
    }
  });

  it('names every variable of the containers', () => {
    const names = containers.flatMap(({ env }) => list(env).map(({ name }) => String(name)));
    assert.ok(names.length > 10, names.join());
    for (const name of new Set(names)) assert.ok(guide.includes(`\`${name}\``), name);
  });

  it('names every file of roles', () => {
    for (const file of files.filter((one) => one.startsWith('rbac/'))) {
      assert.ok(guide.includes(`\`${file.slice('rbac/'.length)}\``), file);
    }
  });

  it('leads only to what exists', () => {
    const links = [...guide.matchAll(/\]\(([^)#]+)/g)].map(([, to = '']) => to);
    const paths = [...guide.matchAll(/(?:reverser\/)?(manifests\/[a-z/.-]+[a-z])/g)].map(([, to = '']) => to);
    assert.ok(links.length > 0 && paths.length > 8);
    for (const to of links) assert.ok(existsSync(join(manifests, '../docs/guide', to)), to);
    for (const to of paths) assert.ok(existsSync(join(manifests, '..', to)), to);
  });

  it('has a reason beside every verb of the roles', () => {
    for (const file of files.filter((one) => one.startsWith('rbac/'))) {
      const text = readFileSync(join(manifests, file), 'utf8');
      const lines = text.split('\n');
      for (const [index, line] of lines.entries()) {
        if (!/^\s+verbs:/.test(line)) continue;
        const rule = lines.slice(0, index).findLastIndex((one) => one.startsWith('  - apiGroups'));
        const listed = lines.slice(index + 1).findIndex((one) => !/^ {6}- /.test(one));
        const reasons = lines.slice(index + 1, listed < 0 ? undefined : index + 1 + listed);
        const above = lines[rule - 1]?.trim().startsWith('#') ?? false;
        const each = reasons.length > 0 && reasons.every((one) => one.includes(' # '));
        // A short list of reading verbs repeats what the rule above it says.
        assert.ok(above || each || line.includes('[get, list, watch]'), `${file}:${index + 1}: ${line}`);
      }
    }
  });
});
