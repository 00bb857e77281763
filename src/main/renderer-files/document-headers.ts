import { createContentSecurityPolicy } from './content-security-policy.ts'

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
