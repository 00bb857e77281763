/**
 * The policy of one response: scripts and styles of our own or with this response's nonce, nothing inline, nothing from
 * elsewhere, no frames, no forms. `connectTo` is allowed in addition to our own origin, such as its websockets.
 */
export function createContentSecurityPolicy(nonce: string, connectTo: readonly string[] = []): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    ["connect-src 'self'", ...connectTo].join(' '),
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ')
}
