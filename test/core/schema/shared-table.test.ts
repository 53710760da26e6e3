import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { type KindSchema, kindSchema } from '../../../src/core/intent/schema/index.ts';
import { anyItem, anyKey, parseSteps } from '../../../src/core/intent/schema/rules.ts';
import { defaultsTable } from '../../../src/core/intent/schema/table.ts';
import { equalJson, isObject, type Json, type JsonObject, type Path } from '../../../src/core/json.ts';

const measured = '../shared/reference/server-defaults.json';

interface Entry {
  readonly kind: string;
  readonly apiVersion: string;
  readonly path: string;
  readonly class: string;
  readonly value?: Json;
  readonly derive?: Json;
  readonly alsoReplaces?: Json[];
  readonly when?: JsonObject[];
  readonly mount?: { kind: string; apiVersion: string; path: string };
}

const whyOf: Readonly<Record<string, string | undefined>> = {
  static: undefined,
  conditional: undefined,
  computed: 'computed',
  allocated: 'allocated',
  controller: 'controller',
};

describe('the measured table of server defaults', () => {
  let entries: Entry[] = [];

  before(function () {
    if (!existsSync(measured)) {
      console.log('    skipped: ../shared/reference is not here');
      return this.skip();
    }
    entries = JSON.parse(readFileSync(measured, 'utf8'));
    assert.ok(entries.length > 600);
  });

  it('has every part at every place where it was measured', () => {
    const missing = of('mount').filter(({ mount, ...entry }) => {
      assert.ok(mount);
      return !defaultsTable.parts[ownerOf(entry)]?.includes(`${ownerOf(mount)} ${mount.path}`.trim());
    });
    assert.deepEqual(missing, []);
  });

  it('has a rule for every field the server adds, for the same reason', () => {
    const added = of('static', 'conditional', 'computed', 'allocated', 'controller').filter(isTabled);
    assert.ok(added.length > 290);
    assert.deepEqual(added.filter((entry) => !hasRule(entry)).map(nameOf), []);
  });

  it('explains every unconditional default, and only that value', () => {
    const plain = of('static').filter((entry) => entry.value !== null);
    assert.ok(plain.length > 130);
    for (const entry of plain) {
      const { schema, path } = placeOf(entry);
      const value = entry.value ?? null;
      assert.deepEqual(explain(schema, path, value), { kind: 'default' }, nameOf(entry));
      assert.equal(explain(schema, path, { made: 'up' }), undefined, nameOf(entry));
    }
  });

  it('reads every quantity as an amount', () => {
    const amounts = of('normalised').filter(({ derive }) => derive === 'quantity');
    assert.equal(amounts.length, 45);
    for (const entry of amounts) {
      const { schema, path } = placeOf(entry);
      assert.equal(schema.meaning(path), 'quantity', nameOf(entry));
    }
  });

  it('knows every stated value that vanishes', () => {
    const zeros = of('normalised').filter(({ derive, value }) => derive === 'zeroDropped' || value === false);
    assert.ok(zeros.length > 210);
    for (const entry of zeros) {
      const { schema, path } = placeOf(entry);
      assert.ok(schema.readsBack({ path, stated: entry.value ?? null, live: undefined }), nameOf(entry));
    }
  });

  it('knows every stated value that comes back otherwise', () => {
    const others = of('normalised').filter(({ derive }) => derive !== 'quantity' && derive !== 'zeroDropped');
    assert.ok(others.length > 15);
    for (const entry of others) {
      const { schema, path } = placeOf(entry);
      const [stated, live] = exampleOf(entry);
      assert.ok(schema.readsBack({ path, stated, live }), nameOf(entry));
    }
  });

  function of(...classes: string[]): Entry[] {
    return entries.filter((entry) => classes.includes(entry.class));
  }
});

/** The rule about CRD schemas is code, not a row. */
function isTabled(entry: Entry): boolean {
  return entry.kind !== 'CustomResource';
}

function hasRule(entry: Entry): boolean {
  const rules = defaultsTable.rules[ownerOf(entry)]?.[entry.path] ?? [];
  return rules.some(
    (rule) =>
      rule.why === whyOf[entry.class] &&
      equalJson(rule.is, entry.value) &&
      (entry.alsoReplaces ?? []).every((value) => rule.replaces?.some((other) => equalJson(other, value))) &&
      (entry.derive === undefined || entry.derive === 'requestNamespace' || rule.by !== undefined) &&
      (rule.by === 'twin' ||
        (entry.when ?? []).length === (rule.if ?? []).filter((one) => one.stated !== true).length),
  );
}

function exampleOf({ derive, path }: Entry): [Json, Json | undefined] {
  switch (derive) {
    case 'time':
      return ['2026-05-01T12:00:00.500000+02:00', '2026-05-01T10:00:00.500000Z'];
    case 'base64':
      return ['YWJj\nZGVm\n', 'YWJjZGVm'];
    case 'nullToEmpty':
      return [null, ''];
    default:
      return [path === 'spec.preserveUnknownFields' ? false : 'anything', undefined];
  }
}

function explain(schema: KindSchema, path: Path, value: Json): ReturnType<KindSchema['explain']> {
  const parent = path.slice(0, -1);
  const last = path.at(-1) ?? '';
  const beside: JsonObject = {};
  return schema.explain({
    live: rootOf(build(parent, { [String(last)]: value })),
    path,
    document: rootOf(build(parent, beside)),
    documentPath: parent,
  });
}

function rootOf(value: Json): JsonObject {
  assert.ok(isObject(value));
  return value;
}

function build(path: Path, inner: Json): Json {
  return path.reduceRight<Json>(
    (value, step) => (typeof step === 'number' ? [value] : { [step]: value }),
    inner,
  );
}

/** A kind that has the part, and the path there. */
function placeOf(entry: Entry): { schema: KindSchema; path: Path } {
  let owner = ownerOf(entry);
  let steps = parseSteps(entry.path === '**' ? 'spec.anything' : entry.path);
  while (!owner.includes('/') && owner !== '*') {
    const [mount = ''] = defaultsTable.parts[owner] ?? [];
    const [next = '', path = ''] = mount.split(' ');
    owner = next;
    steps = [...parseSteps(path), ...steps];
  }
  const path = steps.map((step) => (step === anyItem ? 0 : step === anyKey ? 'key' : step));
  const parts =
    owner === '*'
      ? ['v1', 'Service']
      : [owner.slice(0, owner.lastIndexOf('/')), owner.slice(owner.lastIndexOf('/') + 1)];
  return { schema: kindSchema(parts[0] ?? '', parts[1] ?? ''), path };
}

function ownerOf({ kind, apiVersion }: { kind: string; apiVersion: string }): string {
  return apiVersion === '*' ? kind : `${apiVersion}/${kind}`;
}

function nameOf(entry: Entry): string {
  return `${ownerOf(entry)} ${entry.path} (${entry.class})`;
}
