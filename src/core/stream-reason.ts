/** Why nothing arrives from a watched collection at present. One word each, in status, logs and metrics. */
export type StreamReason =
  /** 401 or 403: the credential may not list or watch it. */
  | 'WatchNotPermitted'
  /** 404: the server does not serve it any more. */
  | 'NotServed'
  /** 429 */
  | 'Throttled'
  /** No connection, no answer, silence, 5xx, or an ERROR event. */
  | 'Unreachable'
  /** A line that is no watch event, or longer than we read. */
  | 'MalformedStream';
