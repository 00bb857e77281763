import type { IncomingMessage } from 'node:http'

/** Longest time for a short body, milliseconds. */
const BODY_MS = 10_000

/** Reads a request's body as text; null where it is longer than `maxBytes` or does not arrive whole in 10 seconds. */
export async function readShortText(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const timer = setTimeout(() => request.destroy(), BODY_MS)
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk)
      sizeBytes += bytes.length
      if (sizeBytes > maxBytes) return null
      chunks.push(bytes)
    }
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
