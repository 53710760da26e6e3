import assert from 'node:assert/strict';
import { type GitServer, startGitServer } from '../cluster/git-server.ts';
import { freePort } from '../cluster/port.ts';
import { tip } from '../cluster/repository.ts';
import { until } from '../cluster/wait.ts';
import { processesIn } from './processes.ts';
import { anonymous, basic, bearer, commitOne, expectKind, openFor } from './remote-fixture.ts';

describe('what a remote over http may answer', () => {
  let open: GitServer;
  let guarded: GitServer;
  before(async () => {
    open = await startGitServer();
    guarded = await startGitServer({ users: { bob: "it's a $ecret" }, tokens: ['token-1'] });
    await open.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
    await guarded.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
  });
  after(async () => {
    await open.stop();
    await guarded.stop();
  });
  afterEach(() => open.setFault(undefined));

  async function failureOfFetch(access: ReturnType<typeof anonymous>, deadlineMs = 10_000) {
    const { repository, close } = await openFor(access);
    const result = await repository.fetch('main', access, { deadlineMs });
    await close();
    return expectKind(result, 'failed');
  }

  it('lets in a user name with password, and a bearer token', async () => {
    for (const access of [
      basic(guarded.url('fleet'), 'bob', "it's a $ecret"),
      bearer(guarded.url('fleet'), 'token-1'),
    ]) {
      const { repository, close } = await openFor(access);
      const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
      const newTip = await commitOne(repository, 'main', base, [
        { path: 'b.yaml', content: access.credentials.kind },
      ]);
      expectKind(await repository.push({ branch: 'main', newTip, expectedOld: base, access }), 'pushed');
      await close();
    }
  });

  it('lets in a password without a user name', async () => {
    const server = await startGitServer({ users: { '': 'pat' } });
    await server.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
    const access = basic(server.url('fleet'), '', 'pat');
    const { repository, close } = await openFor(access);
    expectKind(await repository.fetch('main', access), 'ok');
    await close();
    await server.stop();
  });

  it('AuthenticationFailed: nobody, a wrong password, a wrong token, and 403', async () => {
    for (const access of [
      anonymous(guarded.url('fleet')),
      basic(guarded.url('fleet'), 'bob', 'wrong'),
      bearer(guarded.url('fleet'), 'wrong'),
    ]) {
      const failure = await failureOfFetch(access);
      assert.equal(failure.reason, 'AuthenticationFailed', failure.message);
    }
    open.setFault({ status: 403 });
    assert.equal((await failureOfFetch(anonymous(open.url('fleet')))).reason, 'AuthenticationFailed');
  });

  it('RepositoryNotFound: 404', async () => {
    assert.equal((await failureOfFetch(anonymous(open.url('other')))).reason, 'RepositoryNotFound');
  });

  it('RemoteUnreachable: 503, a closed connection, nobody listening, no such host', async () => {
    open.setFault({ status: 503 });
    assert.equal((await failureOfFetch(anonymous(open.url('fleet')))).reason, 'RemoteUnreachable');
    open.setFault('refuse');
    assert.equal((await failureOfFetch(anonymous(open.url('fleet')))).reason, 'RemoteUnreachable');
    const nobody = `http://127.0.0.1:${await freePort()}/fleet.git`;
    assert.equal((await failureOfFetch(anonymous(nobody))).reason, 'RemoteUnreachable');
    assert.equal(
      (await failureOfFetch(anonymous('http://host.invalid/fleet.git'))).reason,
      'RemoteUnreachable',
    );
  });

  it('RemoteUnreachable: a certificate nobody vouches for; fine once it is known', async () => {
    const server = await startGitServer({ tls: true, users: { bob: 'pw' } });
    await server.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
    const access = basic(server.url('fleet'), 'bob', 'pw');
    const failure = await failureOfFetch(access);
    assert.equal(failure.reason, 'RemoteUnreachable');
    assert.match(failure.message, /certificate/);
    const trusting = await openFor(access, { ambient: { ...process.env, GIT_SSL_CAINFO: server.caFile } });
    expectKind(await trusting.repository.fetch('main', access), 'ok');
    await trusting.close();
    await server.stop();
  });

  it('TimedOut: a remote that never answers is left at the deadline, with all its processes', async () => {
    open.setFault('hang');
    const access = anonymous(open.url('fleet'));
    const { repository, volume, close } = await openFor(access);
    const started = performance.now();
    const failure = expectKind(await repository.fetch('main', access, { deadlineMs: 300 }), 'failed');
    assert.equal(failure.reason, 'TimedOut');
    assert.ok(performance.now() - started < 2_000);
    assert.deepEqual(processesIn(volume.path), []);
    await close();
  });

  it('Aborted: the caller gives up', async () => {
    open.setFault('hang');
    const access = anonymous(open.url('fleet'));
    const { repository, close } = await openFor(access);
    const stop = new AbortController();
    const fetching = repository.fetch('main', access, { signal: stop.signal });
    stop.abort();
    assert.equal(expectKind(await fetching, 'failed').reason, 'Aborted');
    await close();
  });

  it('a push whose answer is lost says that it knows nothing, and is found when looked for', async () => {
    const access = anonymous(open.url('fleet'));
    const { repository, close } = await openFor(access);
    const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
    const newTip = await commitOne(repository, 'main', base, [{ path: 'lost.yaml', content: '1\n' }]);
    // A push asks for the refs, then sends: only the second answer gets lost.
    open.setBefore((request) => {
      if (request.method === 'GET') open.setFault('lose-answer', 'git-receive-pack');
    });
    const failure = expectKind(
      await repository.push({ branch: 'main', newTip, expectedOld: base, access }),
      'failed',
    );
    open.setBefore(undefined);
    assert.equal(failure.reason, 'RemoteUnreachable', failure.message);
    open.setFault(undefined);
    expectKind(await repository.push({ branch: 'main', newTip, expectedOld: base, access }), 'up-to-date');
    assert.equal(await tip(open.bareDir('fleet'), 'main'), newTip);
    await close();
  });

  it('refused: the words of the hook reach the caller, without terminal escapes', async () => {
    const access = anonymous(open.url('fleet'));
    const { repository, close } = await openFor(access);
    const { tip: base } = expectKind(await repository.fetch('main', access), 'ok');
    const newTip = await commitOne(repository, 'main', base, [{ path: 'no.yaml', content: '1\n' }]);
    await open.refusePushes(
      'fleet',
      `\u001b[31mGL-HOOK-ERR:\u001b[0m main is protected\u0007\n${'x'.repeat(5_000)}`,
    );
    const refused = expectKind(
      await repository.push({ branch: 'main', newTip, expectedOld: base, access }),
      'refused',
    );
    await open.refusePushes('fleet', undefined);
    assert.match(refused.message, /^pre-receive hook declined\nGL-HOOK-ERR: main is protected\nx+…$/);
    assert.ok(refused.message.length <= 1_001);
    assert.equal(await tip(open.bareDir('fleet'), 'main'), base);
    await close();
  });

  it('follows a redirect to another path of the same host, with the password', async () => {
    const access = basic(guarded.url('renamed'), 'bob', "it's a $ecret");
    const location = `${guarded.url('fleet')}/info/refs?service=git-upload-pack`;
    guarded.setFault({ status: 301, headers: { location } });
    const { repository } = await openFor(access);
    const fetching = repository.fetch('main', access, { deadlineMs: 10_000 });
    const isRedirected = () => guarded.requests.some((request) => request.path.startsWith('/renamed'));
    await until('the old path was asked for', isRedirected, { intervalMs: 1 });
    guarded.setFault(undefined);
    expectKind(await fetching, 'ok');
  });

  it('follows a redirect of the host, but carries no password to another one', async () => {
    const other = await startGitServer({ users: { bob: 'pw' } });
    await other.createRepository('fleet', { files: { 'a.yaml': '1\n' } });
    for (const access of [basic(open.url('fleet'), 'bob', 'pw'), bearer(open.url('fleet'), 'pw')]) {
      open.setFault({
        status: 301,
        headers: { location: `${other.url('fleet')}/info/refs?service=git-upload-pack` },
      });
      const failure = await failureOfFetch(access);
      assert.ok(['AuthenticationFailed', 'Refused'].includes(failure.reason), failure.message);
      assert.deepEqual(
        other.requests.filter((request) => request.user !== undefined),
        [],
      );
      open.setFault(undefined);
    }
    await other.stop();
  });

  it('refuses, without asking the remote, a password over http and a transport that is not allowed', async () => {
    const access = basic(open.url('fleet'), 'bob', 'pw');
    const { repository, roundTrips, close } = await openFor(access, { allowHttp: false });
    const failure = expectKind(await repository.fetch('main', access), 'failed');
    assert.equal(failure.reason, 'Refused');
    assert.deepEqual(roundTrips, []);
    const nobody = anonymous(open.url('fleet'));
    assert.match(
      expectKind(await repository.fetch('main', nobody), 'failed').message,
      /transport 'http' not allowed/,
    );
    await close();
  });
});
