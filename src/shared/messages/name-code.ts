const BROKEN = 'connection broke'
const UNREACHABLE = 'host cannot be reached'

/** Codes of this machine, for rows without an answer. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UND_ERR_SOCKET: BROKEN,
  CONNECTION_CLOSED: BROKEN,
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ENETDOWN: UNREACHABLE,
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  TIMEOUT: 'no answer in time',
  GRACEFUL_STOP: 'ended by the graceful stop',
  ANSWER_TOO_LARGE: 'answer too large',
  MALFORMED_ANSWER: 'answer is not HTTP',
  PROXY_UNREACHABLE: 'proxy cannot be reached',
  PROXY_CREDENTIALS: 'proxy credentials refused',
  PROXY_REFUSED: 'refused by the proxy',
  REFUSED_STREAM: 'refused unprocessed',
}

/** An error code's name: network codes in words, the service's codes unchanged. */
export function nameCode(code: string): string {
  return WORDS[code] ?? code.replace(/^RESET_/, 'request reset: ').replace(/^GOAWAY_/, 'connection ended: ')
}

/** Status and error code of an answer in one line; empty if there is neither. */
export function nameAnswer(status: number | null, code: string | null): string {
  return [status, code === null ? null : nameCode(code)].filter((part) => part !== null).join(' ')
}
