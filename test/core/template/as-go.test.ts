/** What we take renders as Go's text/template renders it; what Go refuses we refuse. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseTemplate, renderTemplate } from '../../../src/core/template/index.ts';
import { type LiveWindowData, liveValue } from '../../../src/core/template/message.ts';
import { type GoResult, hasGo, renderWithGo } from './go.ts';

const data: LiveWindowData = {
  author: 'alice@example.com',
  gitTarget: 'live',
  resources: [
    {
      operation: 'UPDATE',
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      resourceVersion: '42',
      labels: { app: 'web', 'a"b\\': 'é\t日本\u200b' },
    },
    {
      operation: 'DELETE',
      group: '',
      version: 'v1',
      resource: 'configmaps',
      kind: '',
      namespace: '',
      name: 'settings',
      resourceVersion: '7',
      labels: {},
    },
    {
      operation: 'UPDATE',
      group: '',
      version: 'v1',
      resource: 'services',
      kind: 'Service',
      namespace: 'shop',
      name: 'web',
      resourceVersion: '9',
      labels: { app: 'api' },
    },
  ],
};
const nobody: LiveWindowData = { author: '', gitTarget: 'live', resources: [] };

/** Rendered by both, with data and without. */
const same = [
  'plain text',
  '',
  '{{.Author}} changed {{.Count}} in {{.GitTarget}}',
  '{{.Operations}} {{.Resources}}',
  '{{index .Operations "UPDATE"}} {{index .Operations "CREATE"}}',
  '{{.Operations.UPDATE}}',
  '{{.Operations.CREATE}}',
  '{{.NoSuchField}}',
  '{{.Author.Name}}',
  '{{.Count.X}}',
  '{{if .Author}}a{{else}}b{{end}}',
  '{{if eq .Count 3}}three{{else if eq .Count 0}}none{{else}}many{{end}}',
  '{{with .Author}}by {{.}}{{end}}',
  '{{with .Author}}by {{.}}{{else}}nobody{{end}}',
  '{{with $x := .Author}}{{$x}}{{$.Count}}{{else with .Count}}{{.}}{{else}}-{{end}}',
  '{{range .Resources}}{{.Name}},{{end}}',
  '{{range .Resources}}{{.}}\n{{else}}nothing{{end}}',
  '{{range $i, $r := .Resources}}{{$i}}={{$r.Kind}};{{end}}',
  '{{range $r := .Resources}}{{$r.Namespace}} {{end}}',
  '{{range $k, $v := .Operations}}{{$k}}:{{$v}} {{end}}',
  '{{range .Operations}}{{.}}{{end}}',
  '{{range .Resources}}{{range $k, $v := .Labels}}[{{$k}}={{$v}}]{{end}}{{end}}',
  '{{range .Author}}x{{end}}',
  '{{range $i, $r := .Resources}}{{if lt $i 1}}{{$r.Name}}{{end}}{{end}}',
  '{{$n := .Count}}{{range .Resources}}{{$n = .Name}}{{end}}{{$n}}',
  '{{$n := 1}}{{if true}}{{$n := 2}}{{$n}}{{end}}{{$n}}',
  '{{$n := 1}}{{with $n = 5}}{{$n}}{{end}}{{$n}}',
  '{{if true}}{{$inner := 1}}{{end}}{{$inner}}',
  '{{$a := 1}}{{$b := $a}}{{$b}}',
  '{{$undefined}}',
  '{{$undefined = 1}}',
  'a  {{- /* gone */ -}}  b',
  'a {{/* gone */}} b',
  'a {{- .Count -}} b',
  'a\n\t{{- .Count }}\n b',
  '{{-3}} {{- -3 -}} {{+4}}',
  '{{ /* not a comment */ }}',
  '{{eq 1 1}} {{eq 1 2 1}} {{ne "a" "b"}} {{eq "a" "a"}} {{eq true false}}',
  '{{lt 1 2}} {{le 2 2}} {{gt "b" "a"}} {{ge "é" "z"}} {{lt "Z" "a"}}',
  '{{eq 1 "1"}}',
  '{{eq true 1}}',
  '{{lt true false}}',
  '{{lt 1 "2"}}',
  '{{eq .Resources .Resources}}',
  '{{eq .Operations .Operations}}',
  '{{and 1 0}} {{and 1 2}} {{or 0 ""}} {{or "" "x" "y"}} {{and .Author .Count}}',
  '{{or true .NoSuchField}}',
  '{{or .Author (index .Resources 0)}}',
  '{{and false (index .Resources 99)}}',
  '{{"x" | and}} {{0 | or "a"}} {{"b" | or ""}} {{"b" | and 0}}',
  '{{not true}} {{not ""}} {{not .Resources}} {{not 3}}',
  '{{len .Resources}} {{len .Operations}} {{len "日本"}} {{len .Author}}',
  '{{len 3}}',
  '{{index .Resources 0}} {{(index .Resources 0).Name}}',
  '{{index .Resources 7}}',
  '{{index .Resources "0"}}',
  '{{index .Operations 1}}',
  '{{index .Author}}',
  '{{(index .Resources 2).Label "app"}} {{(index .Resources 2).Labels.app}}',
  '{{.LabelValue "app"}}|{{.LabelValues "app"}}|{{.LabelValue "none"}}',
  '{{"app" | .LabelValues}} {{"app" | $.LabelValue}}',
  '{{.LabelValue}}',
  '{{.LabelValue 1}}',
  '{{.LabelValue "a" "b"}}',
  '{{.Author "a"}}',
  '{{"a" | .Author}}',
  '{{range .Resources}}{{.Label "app"}} {{index .Labels "app"}};{{end}}',
  '{{range .Resources}}{{.Labels.app}}{{end}}',
  '{{print "a" "b"}} {{print 1 2}} {{print "a" 1 2 "b" true}} {{print .Resources}}',
  '{{print}}|{{println}}|{{println "a" 1}}',
  '{{printf "%s %d %v %q %t %x %%" "a" 5 "b" "c\\n" true 255}}',
  '{{printf "%5s|%-5s|%5d|%-5d|%05d|%+d|%+05d|%x" "é" "b" 1 -2 -3 4 5 -255}}',
  '{{printf "%.2s|%5.1s|%.9s" "日本語" "abc" "d"}}',
  '{{printf "%q %q" "é\\t日本\\u200b\\"" "\\x01\\U0001F600"}}',
  '{{printf "%x" "日"}}',
  '{{printf "%s %v %q" (.LabelValues "app") .Operations (.LabelValues "app")}}',
  '{{printf "%3s" (.LabelValues "app")}}',
  '{{range .Resources}}{{printf "%s %v %q %20s" . . . .}}{{end}}',
  '{{.Count | printf "%03d"}} {{printf "%d" 1 | printf "%s%s" "a"}}',
  '{{"a" | printf "%s" | print "b" | len}}',
  '{{`raw {{ \\n`}} {{"quoted \\"}}\\" \\t"}}',
  '{{/* a comment {{ with "things */}}x',
  '{{print "a"\n  "b"}}',
  '{{(print "a")}} {{((1))}} {{len (print (len (print 1)))}}',
  '{{print (eq 1 1)}}{{if (and (eq 1 1) (not false))}}y{{end}}',
  '{{.}} {{$}} {{print .}}',
  '{{.Count}',
  '{{.Count',
  '{{"open}}',
  '{{"a\nb"}}',
  '{{`open}}',
  '{{}}',
  '{{|}}',
  '{{1 | 2}}',
  '{{1 | .}}',
  '{{1 2}}',
  '{{. 1}}',
  '{{(1) 2}}',
  '{{(print 1}}',
  '{{print 1)}}',
  '{{len(.Author)}}',
  '{{print .Count.Count}}',
  '{{"a".b}}',
  '{{nosuch 1}}',
  '{{len}}',
  '{{eq 1}}',
  '{{ne 1 2 3}}',
  '{{not 1 2}}',
  '{{if}}x{{end}}',
  '{{if 1}}x',
  '{{end}}',
  '{{else}}',
  '{{if 1}}{{else}}{{else}}{{end}}',
  '{{if 1}}{{else with 2}}{{end}}',
  '{{range .Resources}}{{else if 1}}{{end}}',
  '{{if 1}}{{end if}}',
  '{{if 1 := 2}}{{end}}',
  '{{$a, $b := .Resources}}',
  '{{range $a, $b, $c := .Resources}}{{end}}',
  '{{range $a, := .Resources}}{{end}}',
  '{{.Count}}}}',
  '}} {{"{{"}}',
  '{{.a.}}',
  '{{#}}',
  '{{/* open }}',
  '{{/* a */ b}}',
];

/** What Go takes and we refuse when the template is read. */
const refused: [string, RegExp][] = [
  ['{{define "x"}}{{end}}', /line 1, column 3: define is not supported/],
  ['{{block "x" .}}{{end}}', /block is not supported/],
  ['{{template "x"}}', /template is not supported/],
  ['{{range .Resources}}{{break}}{{end}}', /break is not supported/],
  ['{{range .Resources}}{{continue}}{{end}}', /continue is not supported/],
  ['{{html .Author}}', /the function html is not supported/],
  ['{{slice .Author 1}}', /the function slice is not supported/],
  ["{{'a'}}", /character constants/],
  ['{{.1}}', /unexpected 1/],
  ['{{1.5}}', /1\.5 is not supported/],
  ['{{0x10}}', /0x10 is not supported/],
  ['{{9007199254740993}}', /9007199254740993 is not supported/],
  ['{{print nil}}', /nil is not supported/],
  ['a\n  {{print print}}', /line 2, column 5: the function print as an argument needs parentheses/],
  ['{{print 1 |}}', /a command is missing/],
  ['{{printf "%s"}}', /takes 1 values and gets 0/],
  ['{{printf "%s" 1 2}}', /takes 1 values and gets 2/],
  ['{{printf "%g" 1}}', /%g is not supported/],
  ['{{printf "%*d" 1 2}}', /%\* is not supported/],
  ['{{printf "%999s" "a"}}', /width is at most 256/],
  ['{{printf "a%" 1}}', /the format ends inside a verb/],
];

function rendered(template: string, window: LiveWindowData): GoResult {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return { ok: false, text: '', error: parsed.message };
  const result = renderTemplate(parsed.template, liveValue(window));
  return result.ok
    ? { ok: true, text: result.text, error: '' }
    : { ok: false, text: '', error: result.message };
}

function compare(templates: readonly string[]): void {
  const cases = templates.flatMap((template) => [
    { template, data },
    { template, data: nobody },
  ]);
  const results = renderWithGo(cases);
  for (const [index, { template, data: window }] of cases.entries()) {
    const ours = rendered(template, window);
    const go = results[index];
    const said = `${template}\n  Go: ${go?.error || 'fine'}\n  ours: ${ours.error || 'fine'}`;
    assert.deepEqual({ ok: ours.ok, text: ours.text }, { ok: go?.ok, text: go?.text ?? '' }, said);
  }
}

describe('templates render as in Go', function () {
  this.timeout(120_000);
  before(function () {
    if (hasGo()) return;
    console.log('      skipped: Go is not installed');
    this.skip();
  });

  it('for a table of templates', () => compare(same));

  it('for templates put together at random', () => {
    // $v always exists: Go looks for a variable only when it is used, we look when the template is read.
    const templates = fc.sample(anyTemplate, { numRuns: 3000, seed: 20_260_107 });
    compare(templates.map((template) => `{{$v := 0}}${template}`));
  });

  it('and Go takes what we leave out', () => {
    const results = renderWithGo(
      refused
        .filter(([template]) => !/template "x"|print nil|a%|print print/.test(template))
        .map(([template]) => ({ template, data })),
    );
    for (const result of results) assert.equal(result.ok, true, result.error);
  });
});

describe('a template outside the supported part', () => {
  for (const [template, message] of refused) {
    it(`is refused when read: ${JSON.stringify(template)}`, () => {
      const parsed = parseTemplate(template);
      assert.equal(parsed.ok, false);
      assert.match(parsed.ok ? '' : parsed.message, message);
    });
  }
});

const operand: fc.Arbitrary<string> = fc.constantFrom(
  '.',
  '$',
  '.Author',
  '.Count',
  '$.Count',
  '.Name',
  '.Labels',
  '.Resources',
  '.Operations',
  '(index .Resources 0)',
  '(.LabelValue "app")',
  '(len .Resources)',
  '(index .Resources 1).Name',
  '"a"',
  '`b`',
  '0',
  '-1',
  '3',
  'true',
  'false',
  '$v',
);

const command: fc.Arbitrary<string> = fc.oneof(
  operand,
  fc
    .tuple(fc.constantFrom('eq', 'ne', 'lt', 'ge', 'and', 'or', 'index', 'print'), operand, operand)
    .map((parts) => parts.join(' ')),
  fc
    .tuple(fc.constantFrom('not', 'len', 'print', 'println', 'printf "%v"', '.LabelValues'), operand)
    .map((parts) => parts.join(' ')),
);

const pipe: fc.Arbitrary<string> = fc.oneof(
  command,
  fc
    .tuple(command, fc.constantFrom('len', 'print', 'printf "%v"', 'eq 1', 'not', 'and 1', '.Label'))
    .map((parts) => parts.join(' | ')),
);

const anyTemplate = fc.letrec<{ list: string; node: string }>((tie) => ({
  list: fc.array(tie('node'), { maxLength: 3, depthIdentifier: 'template' }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { depthSize: 'small', depthIdentifier: 'template' },
    fc.constantFrom('text', ' ', '\n', '{{/* c */}}', '{{$v := .Count}}', '{{$v = "s"}}'),
    fc
      .tuple(fc.constantFrom('{{', '{{- ', '{{ '), pipe, fc.constantFrom('}}', ' -}}', ' }}'))
      .map((parts) => parts.join('')),
    fc
      .tuple(
        fc.constantFrom('if', 'with', 'range', 'range $v :=', 'range $i, $v :=', 'with $v :='),
        pipe,
        tie('list'),
      )
      .map(([head, condition, body]) => `{{${head} ${condition}}}${body}{{end}}`),
    fc
      .tuple(fc.constantFrom('if', 'with', 'range'), pipe, tie('list'), tie('list'))
      .map(([head, condition, body, other]) => `{{${head} ${condition}}}${body}{{else}}${other}{{end}}`),
  ),
})).list;
