import {
  ANSWER_TOO_LARGE_CODE,
  type Breakdown,
  CONNECTION_CLOSED_CODE,
  GOAWAY_CODE,
  isCertificateAlert,
  MALFORMED_ANSWER_CODE,
  RECEIVE_LIMIT_CODE,
  RESET_CODE,
  TIMEOUT_CODE,
} from './exchange.ts'
import { PROXY_CREDENTIALS_CODE, PROXY_REFUSED_CODE, PROXY_UNREACHABLE_CODE } from './proxy-tunnel.ts'

/**
 * Explains in plain words why there was no answer, and what to do. The text is the same for all rows that
 * ended alike, so that rows can be grouped by it.
 */
export function toBreakdownMessage({ code, message, sent, status }: Breakdown, origin: string): string {
  const { hostname, host } = new URL(origin)
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `no such host: ${hostname} (${code}); check the base URL and the network`
    case 'ECONNREFUSED':
      return `connection refused by ${host}; check the port and that the service is running`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENETDOWN':
      return `${host} cannot be reached (${code}); check the network`
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return `no connection to ${host} in time (${code}); check the network and any firewall`
    case TIMEOUT_CODE:
    case ANSWER_TOO_LARGE_CODE:
    case RECEIVE_LIMIT_CODE:
    case PROXY_UNREACHABLE_CODE:
    case PROXY_CREDENTIALS_CODE:
    case PROXY_REFUSED_CODE:
      return message
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
    case CONNECTION_CLOSED_CODE:
      if (sent && status !== null) return 'the connection broke in the middle of the answer'
      return sent
        ? 'the connection broke after the request was sent'
        : `the connection to ${host} broke before the request was sent`
    case MALFORMED_ANSWER_CODE:
      return `${message}; check that ${host} is the service (${code})`
    default:
      if (code.startsWith(RESET_CODE) || code.startsWith(GOAWAY_CODE))
        return status === null ? message : `in the middle of the answer, ${message}`
      if (isCertificateAlert(code)) return toAlertMessage(code, host)
      if (isCertificateCode(code)) return toCertificateMessage(code, host)
      return `${message || 'the request failed'} (${code})`
  }
}

function toAlertMessage(code: string, host: string): string {
  return `${host} takes no connection without a client's certificate that it knows (${code}); name one in the connection (--client-cert FILE --client-key FILE)`
}

function isCertificateCode(code: string): boolean {
  return (
    code.startsWith('ERR_TLS') ||
    code.startsWith('CERT_') ||
    code.startsWith('ERR_SSL') ||
    code.includes('CERT') ||
    code.includes('_SIGNATURE')
  )
}

function toCertificateMessage(code: string, host: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the certificate of ${host} is for another name (${code}); check the base URL`
  }
  if (code === 'CERT_HAS_EXPIRED') return `the certificate of ${host} has expired (${code})`
  if (code.startsWith('ERR_SSL')) {
    return `no TLS with ${host} (${code}); check that the base URL's https and port are right`
  }
  return (
    `the certificate of ${host} is not trusted (${code}); ` +
    'name the file of your own CA in the connection, or in NODE_EXTRA_CA_CERTS'
  )
}
