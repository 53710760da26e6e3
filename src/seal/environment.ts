/** The environment of every sops we start: nothing of the machine's or a person's keys and settings. */

export type Environment = Readonly<Record<string, string>>;

export function sopsEnvironment(home: string, key: Environment): Environment {
  return {
    // sops looks for keys of a person below these.
    HOME: home,
    XDG_CONFIG_HOME: home,
    TMPDIR: home,
    LC_ALL: 'C',
    TZ: 'UTC',
    // A crash must not print what is in memory.
    GOTRACEBACK: 'none',
    SOPS_DISABLE_VERSION_CHECK: 'true',
    ...key,
  };
}
