/** Structured logs: one JSON line per state change on stderr. Bodies, tokens and Secret values are never logged. */
import { type Logger, pino } from 'pino';

export type Log = Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Longest text of one log field; what is longer is cut, so that a hostile message cannot fill the disk. */
const fieldLimit = 2_000;

export function createLog(options: { level: LogLevel; destination?: NodeJS.WritableStream }): Log {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: cutFields },
      redact: {
        paths: ['password', 'token', '*.password', '*.token', 'credentials', '*.credentials'],
        remove: true,
      },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

export function silentLog(): Log {
  return pino({ level: 'silent' });
}

function cutFields(fields: Record<string, unknown>): Record<string, unknown> {
  const cut: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    cut[name] =
      typeof value === 'string' && value.length > fieldLimit ? `${value.slice(0, fieldLimit)}…` : value;
  }
  return cut;
}
