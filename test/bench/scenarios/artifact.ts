/** An artifact through the door of Flux, beside the same one straight from the server. */
import { installCrds } from '../../cluster/flux.ts';
import { freePort } from '../../cluster/port.ts';
import { tip } from '../../cluster/repository.ts';
import { type ArtifactServer, fetchAndUnpack, serveArtifact } from '../artifact.ts';
import { quiet, startBundled } from '../bundled-sidecar.ts';
import { type Figure, inTurns, ratioFigure } from '../measure.ts';
import { type BenchTarget, createConfigMaps, createRule, createTarget, mirrored } from '../objects.ts';
import type { Bench } from './scenario.ts';

/** The decision about an artifact is part of what it costs, so there has to be something to decide about. */
const objects = 2_000;
const artifactBytes = 50 * 1024 * 1024;

export async function artifactScenario(bench: Bench): Promise<Figure[]> {
  const { world, api } = bench;
  const namespace = bench.fresh('small');
  bench.progress(`making ${objects} ConfigMaps`);
  await createConfigMaps(api, namespace, objects);
  await installCrds(world.cluster);
  const artifact = await serveArtifact(artifactBytes);
  const doorAddress = `127.0.0.1:${await freePort()}`;
  const sidecar = await startBundled(world, {
    flags: ['--artifact-bind-address', doorAddress, '--source-controller-url', artifact.url],
  });
  try {
    const target = await createTarget(world, api, namespace, bench.fresh('gated'));
    await createRule(api, target);
    await mirrored(api, target);
    await quiet(sidecar, 10_000);
    return [await throughTheDoor(bench, { target, artifact, doorAddress })];
  } finally {
    await sidecar.stop();
    await artifact.stop();
  }
}

async function throughTheDoor(
  { world, rounds, progress }: Bench,
  { target, artifact, doorAddress }: { target: BenchTarget; artifact: ArtifactServer; doorAddress: string },
): Promise<Figure> {
  progress('fetching an artifact of 50 MiB');
  const { namespace, name, bareDir } = target;
  const path = `/gitrepository/${namespace}/${name}/artifact.tar.gz`;
  const metadata = { name, namespace };
  const apiVersion = 'source.toolkit.fluxcd.io/v1';
  const spec = { url: world.git.url(`${name}.git`), interval: '1h', ref: { branch: 'main' } };
  await world.apply([{ apiVersion, kind: 'GitRepository', metadata, spec }]);
  const status = {
    artifact: {
      ...{ digest: artifact.digest, path: path.slice(1), url: `${artifact.url}${path}` },
      lastUpdateTime: new Date().toISOString(),
      revision: `main@sha1:${await tip(bareDir, 'main')}`,
    },
  };
  const patch = JSON.stringify({ status });
  await world.kubectl(
    ...['patch', 'gitrepository', name, '-n', namespace, '--subresource=status', '--type=merge', '-p', patch],
  );
  const times = await inTurns(rounds, {
    ours: () => fetchAndUnpack(`http://${doorAddress}${path}`, artifact.digest),
    floor: () => fetchAndUnpack(`${artifact.url}${path}`, artifact.digest),
  });
  const measure = 'artifact of 50 MiB, fetched, checked, unpacked';
  return ratioFigure({ scenario: 'artifact', measure }, times.floor, times.ours, 1.25);
}
