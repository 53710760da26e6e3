/**
 * The environment of every git we start: nothing of the machine's or a person's configuration, no prompts, C locale.
 *
 * Only names on this list pass from our own environment. GIT_DIR is always set, so a broken repository never makes git
 * look for another one in the folders above.
 */

export type Environment = Readonly<Record<string, string>>;

/** Where to find programs, how to reach the network, whom to trust: what an operator sets for the whole pod. */
const passed = [
  'PATH',
  'TMPDIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'GIT_EXEC_PATH',
] as const;

export function gitEnvironment(
  ambient: Environment | NodeJS.ProcessEnv,
  gitDir: string,
  home: string,
): Environment {
  const environment: Record<string, string> = {
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ADVICE: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
  };
  for (const name of passed) {
    const value = ambient[name];
    if (value !== undefined && value !== '') environment[name] = value;
  }
  return environment;
}
