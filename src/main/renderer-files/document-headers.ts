/** What every answer that a window loads says about itself, whatever is in it. */
export function createDocumentHeaders(
  nonce: string,
  connectTo: readonly string[] = [],
): Record<string, string> {
  return {
    // Without a page around it, an SVG or a script is a document of its own: the policy goes with every answer.
    'content-security-policy': createContentSecurityPolicy(nonce, connectTo),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}

/**
 * The policy of one response: scripts and styles of our own or with this response's nonce, nothing inline, nothing from
 * elsewhere, no frames, no forms. `connectTo` is allowed in addition to our own origin, such as its websockets.
 */
function createContentSecurityPolicy(nonce: string, connectTo: readonly string[] = []): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self'",
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
