import { isIP } from 'node:net'

/** Whether an IP address is of this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}

/**
 * Whether a Host header may reach a server that listens at `listensAt`: a name or address that can only mean this
 * machine, or the very name it listens at. Where it listens beyond this machine, any address may: only a name can be
 * made to lead to another machine than it did (DNS rebinding).
 */
export function isServedHost(hostname: string, listensAt: string): boolean {
  if (isLoopbackName(hostname) || hostname === listensAt) return true
  return !isLoopbackName(listensAt) && isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether a host name, as a URL or a Host header has it, can only mean this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''))
}
