import type { IncomingMessage } from 'node:http'

/** Reads a request's body as text; null where it is longer than `maxBytes` or does not arrive whole. */
export async function readShortText(request: IncomingMessage, maxBytes: number): Promise<string | null> {
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
  }
  return Buffer.concat(chunks).toString('utf8')
}
