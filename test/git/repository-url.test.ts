import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  normaliseRepositoryUrl,
  parseRepositoryUrl,
  redactUrl,
  redactUrls,
} from '../../src/core/repository-url.ts';

describe('repository URLs', () => {
  it('gives every spelling of one repository one key', () => {
    const spellings = [
      'https://git.example.com/team/fleet',
      'https://git.example.com/team/fleet.git',
      'https://Git.Example.COM:443/team/fleet.git/',
      'http://git.example.com:80/team/fleet',
      'https://bob:pw@git.example.com/team/fleet',
      'ssh://git@git.example.com/team/fleet.git',
      'ssh://git.example.com:22//team/fleet',
      'git@git.example.com:team/fleet.git',
      'git@git.example.com:/team/fleet',
      'git.example.com:team/fleet',
      'https://git.example.com/team/%66leet?x#y',
    ];
    for (const text of spellings)
      assert.equal(normaliseRepositoryUrl(text), 'git.example.com/team/fleet', text);
  });

  it('keeps apart what may be two repositories', () => {
    const keys = [
      'https://git.example.com/team/fleet',
      'https://git.example.com/team/Fleet',
      'https://git.example.com:8443/team/fleet',
      'https://git.example.org/team/fleet',
      'https://git.example.com/fleet',
    ].map(normaliseRepositoryUrl);
    assert.equal(new Set(keys).size, keys.length);
  });

  it('gives git an address without password, and an ssh address with its login name', () => {
    const remote = (text: string) => {
      const check = parseRepositoryUrl(text, { allowHttp: true });
      return check.ok ? check.url.remote : check.message;
    };
    assert.equal(
      remote('https://bob@Git.Example.com:443/team/fleet.git'),
      'https://git.example.com/team/fleet.git',
    );
    assert.equal(remote('http://git.example.com:8080/fleet'), 'http://git.example.com:8080/fleet');
    assert.equal(remote('git@git.example.com:team/fleet.git'), 'ssh://git@git.example.com/team/fleet.git');
    assert.equal(
      remote('ssh://me@[2001:DB8::1]:2222/srv/fleet.git'),
      'ssh://me@[2001:db8::1]:2222/srv/fleet.git',
    );
  });

  it('refuses with a sentence that says what to write instead', () => {
    const refused: readonly (readonly [string, RegExp])[] = [
      ['http://git.example.com/fleet', /--insecure-allow-git-http/],
      ['https://bob:hunter2@git.example.com/fleet', /password; put it in the Secret/],
      ['git://git.example.com/fleet', /scheme git; use https or ssh/],
      ['ext::sh -c touch', /blank/],
      ['ext::sh', /is none of|has the scheme/],
      ['file:///srv/fleet', /names a folder/],
      ['/srv/fleet', /is none of/],
      ['https://git.example.com', /has no path/],
      ['https://git.example.com/.git', /has no path/],
      ['https:///fleet', /no usable host/],
      ['ssh://-oProxyCommand=touch/fleet', /no usable host/],
      ['ssh://-l@git.example.com/fleet', /no usable user/],
      ['ssh://git.example.com/-fleet', /starts with a dash/],
      ['git@git.example.com:-fleet', /starts with a dash/],
      ['https://git.example.com:99999/fleet', /no usable port/],
      ['https://git.example.com/fleet?token=hunter2', /query/],
      ['https://git.example.com/a\nb', /control character/],
      [`https://git.example.com/${'x'.repeat(3000)}`, /longer than/],
    ];
    for (const [text, pattern] of refused) {
      const check = parseRepositoryUrl(text);
      assert.ok(!check.ok, text);
      assert.match(check.message, pattern);
      if (!text.includes('token=')) assert.doesNotMatch(check.message, /hunter2/);
    }
  });

  it('takes logins out of any text, whatever stands around them', () => {
    assert.equal(redactUrl('https://bob:hunter2@git.example.com/fleet'), 'https://git.example.com/fleet');
    assert.equal(redactUrl('git@git.example.com:fleet'), 'git@git.example.com:fleet');
    assert.equal(redactUrl('ssh://git:hunter2@git.example.com/fleet'), 'ssh://git@git.example.com/fleet');
    assert.equal(redactUrl('bob:hunter2@git.example.com:fleet'), 'bob@git.example.com:fleet');
    assert.equal(
      redactUrls("fatal: unable to access 'https://x:hunter2@h/p/': refused; see http://y@h"),
      "fatal: unable to access 'https://h/p/': refused; see http://h",
    );
    const secret = fc.stringMatching(/^[A-Za-z0-9:@!$%^&*()_+=.-]{6,20}$/);
    fc.assert(
      fc.property(secret, (password) => {
        const shown = redactUrls(`cannot reach https://bot:${password}@git.example.com/fleet now`);
        assert.equal(shown, 'cannot reach https://git.example.com/fleet now');
      }),
    );
  });
});
