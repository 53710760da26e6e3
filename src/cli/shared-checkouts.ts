/** The shared checkouts of this process, written out of the bare repositories on the private volume. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { removeCheckout, writeCheckout } from '../git/checkout.ts';
import { repositoryFolder } from '../git/repository.ts';
import type { Clock } from '../kube/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { Checkouts } from '../worker/checkouts.ts';

/** Larger ones are not worth it: the plugin has a copy of its own. */
const limits = { maxFiles: 20_000, maxBytes: 256 * 1024 ** 2 };

export function sharedCheckouts(config: Config, clock: Clock, log: Log): Checkouts | undefined {
  const { sharedCheckoutDir: dir, dataDir } = config;
  if (dir === undefined) return undefined;
  return new Checkouts({
    dir,
    write: (key, commit, into) =>
      writeCheckout({
        repository: repositoryFolder(join(dataDir, 'repositories'), { key }),
        ambient: process.env,
        commit,
        into,
        ...limits,
      }),
    remove: removeCheckout,
    clock,
    log,
  });
}
