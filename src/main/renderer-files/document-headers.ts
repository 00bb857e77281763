/** The headers of every answer that a window loads. */
export function createDocumentHeaders(
  nonce: string,
  connectTo: readonly string[] = [],
): Record<string, string> {
  return {
    // An SVG or script that is opened directly is a document of its own, so every answer carries the policy.
    'content-security-policy': createContentSecurityPolicy(nonce, connectTo),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}

/**
 * The content security policy of one response: only our own scripts and styles or those with this response's
 * nonce, nothing inline or from elsewhere, no frames, no forms. `connectTo` is allowed in addition to our own
 * origin, for instance for its websockets.
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
