import assert from 'node:assert/strict';
import { parseTemplate, renderTemplate, type Template } from '../../../src/core/template/index.ts';
import {
  type LiveWindowData,
  liveMessage,
  type MessageResource,
  reconcileMessage,
  validateMessageTemplates,
} from '../../../src/core/template/message.ts';

const web: MessageResource = {
  operation: 'UPDATE',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  resourceVersion: '42',
  labels: { app: 'web' },
};
const reader: MessageResource = {
  ...web,
  operation: 'DELETE',
  group: '',
  resource: 'nodes',
  kind: '',
  namespace: '',
  name: 'n1',
  labels: {},
};

function window(...resources: MessageResource[]): LiveWindowData {
  return { author: 'alice', gitTarget: 'live', resources };
}

function template(text: string): Template {
  const parsed = parseTemplate(text);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message);
  return parsed.template;
}

describe('the built-in message', () => {
  it('names every entry of a live window', () => {
    assert.equal(
      liveMessage(undefined, window(web, reader)).text,
      'chore: sync 2 resources\n\n- [UPDATE] apps/v1/deployments/shop/web\n- [DELETE] v1/nodes/_cluster/n1\n',
    );
  });

  it('has the singular for one', () => {
    assert.match(liveMessage(undefined, window(web)).text, /^chore: sync 1 resource\n\n/);
    assert.equal(
      reconcileMessage(undefined, { gitTarget: 'live', count: 1 }).text,
      'chore: reconcile 1 resource\n',
    );
  });

  it('says where and how far a snapshot went', () => {
    const data = { gitTarget: 'live', count: 3, namespace: 'shop', resourceVersion: '99' };
    assert.equal(
      reconcileMessage(undefined, data).text,
      'chore: reconcile 3 resources in shop (last resourceVersion: 99)\n',
    );
  });

  it('of a huge window ends at a whole line within 64 KiB and says so', () => {
    const many = Array.from({ length: 5000 }, (_, index) => ({ ...web, name: `wéb-${index}` }));
    const { text } = liveMessage(undefined, window(...many));
    assert.ok(Buffer.byteLength(text) <= 64 * 1024);
    assert.match(
      text,
      /\n- \[UPDATE\] apps\/v1\/deployments\/shop\/wéb-\d+\n\(the message is cut at 64 KiB\)\n$/,
    );
  });
});

describe('a message from a template', () => {
  it('is what the template renders, ending with one line break', () => {
    const { text, problem } = liveMessage(
      template('\n{{.Author}}: {{.LabelValue "app"}}\n\n\n'),
      window(web),
    );
    assert.equal(text, 'alice: web\n');
    assert.equal(problem, undefined);
  });

  it('that fails on this data gives the built-in one and the problem', () => {
    const { text, problem } = liveMessage(
      template('{{range .Resources}}{{.Labels.app}}{{end}}'),
      window(reader),
    );
    assert.match(text, /^chore: sync 1 resource\n/);
    assert.match(problem ?? '', /line 1, column 23: the map has no key app/);
  });

  it('that renders nothing gives the built-in one and the problem', () => {
    const { text, problem } = liveMessage(template(' {{/* nothing */}}\n'), window(web));
    assert.match(text, /^chore: sync 1 resource\n/);
    assert.match(problem ?? '', /empty/);
  });

  it('takes no second line and no control character from a user name', () => {
    const data = { ...window(web), author: 'mallory\nSigned-off-by: alice\u0000\u2028x' };
    assert.equal(liveMessage(template('by {{.Author}}'), data).text, 'by mallory Signed-off-by: alice x\n');
  });
});

describe('the check of message templates', () => {
  const cases: [string, Parameters<typeof validateMessageTemplates>[0], RegExp | undefined][] = [
    ['none', {}, undefined],
    ['good ones', { liveTemplate: '{{.Count}}', reconcileTemplate: '{{.APIVersion}}{{.Count}}' }, undefined],
    [
      'a field that is not there',
      { liveTemplate: '{{.Revision}}' },
      /liveTemplate: line 1, column 3: .*no field Revision/,
    ],
    [
      'an old field of a snapshot',
      { reconcileTemplate: 'a\n{{.Revision}}' },
      /reconcileTemplate: line 2, .*ResourceVersion/,
    ],
    ['a live field in a snapshot', { reconcileTemplate: '{{.Author}}' }, /no field Author/],
    [
      'a label that some objects lack',
      { liveTemplate: '{{range .Resources}}{{.Labels.app}}{{end}}' },
      /no key app/,
    ],
    ['an author that may be empty', { liveTemplate: '{{.Author}}' }, /empty message/],
    ['broken syntax', { liveTemplate: '{{if}}' }, /a command is missing/],
  ];
  for (const [name, templates, expected] of cases) {
    it(name, () => {
      const problems = validateMessageTemplates(templates);
      if (expected === undefined) assert.deepEqual(problems, []);
      else assert.match(problems.join('\n'), expected);
    });
  }
});

describe('a template that would never end or grow without bound', () => {
  const many = window(...Array.from({ length: 2000 }, () => web));
  const data = { kind: 'record', fields: { R: many.resources.map(() => 1) } } as const;
  const nested = '{{range .R}}{{range $.R}}{{range $.R}}{{end}}{{end}}{{end}}';

  it('stops after its steps', () => {
    const result = renderTemplate(template(nested.replace('{{end}}', '{{print ""}}{{end}}')), data);
    assert.equal(result.ok, false);
    assert.match(result.ok ? '' : result.message, /too many steps/);
  });

  it('stops even when its loops do nothing', () => {
    const result = renderTemplate(template(nested), data);
    assert.match(result.ok ? '' : result.message, /too many steps/);
  });

  it('stops when a text doubles for ever', () => {
    const result = renderTemplate(template('{{$x := "ab"}}{{range .R}}{{$x = print $x $x}}{{end}}'), data);
    assert.match(result.ok ? '' : result.message, /64 KiB/);
  });

  it('stops when the output is full', () => {
    const result = renderTemplate(template('{{range .R}}{{range $.R}}xxxxxxxxxxxxxxxx{{end}}{{end}}'), data);
    assert.ok(result.ok && result.cut);
  });

  it('is refused when it is nested too deep or too long', () => {
    const deep = `${'{{if 1}}'.repeat(40)}${'{{end}}'.repeat(40)}`;
    assert.equal(parseTemplate(deep).ok, false);
    assert.equal(parseTemplate(`{{${'('.repeat(40)}1${')'.repeat(40)}}}`).ok, false);
    assert.equal(parseTemplate('x'.repeat(17_000)).ok, false);
  });
});
