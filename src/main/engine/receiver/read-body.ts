import type { IncomingMessage } from 'node:http'

/** A body, or why there is none. */
export type BodyResult = { kind: 'body'; body: Uint8Array } | { kind: 'oversized' | 'overloaded' | 'broken' }

/** What a body may take up. */
export interface BodyBounds {
  maxBytes: number
  /** Asks for room for so many bytes more; false where there is none. */
  reserve(sizeBytes: number): boolean
}

/**
 * Reads a request's body within bounds and calls back once. What comes beyond them is not kept: it runs through, so
 * that a client which is still sending can read its answer.
 */
export function readBody(
  request: IncomingMessage,
  { maxBytes, reserve }: BodyBounds,
  read: (result: BodyResult) => void,
): void {
  const chunks: Buffer[] = []
  let sizeBytes = 0

  const finish = (result: BodyResult): void => {
    request.off('data', onData).off('end', onEnd).off('close', onClose)
    if (result.kind !== 'body') request.resume()
    read(result)
  }
  const onData = (chunk: Buffer): void => {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) finish({ kind: 'oversized' })
    else if (reserve(chunk.length)) chunks.push(chunk)
    else finish({ kind: 'overloaded' })
  }
  const onEnd = (): void => {
    const [only] = chunks
    finish({ kind: 'body', body: chunks.length === 1 && only ? only : Buffer.concat(chunks) })
  }
  const onClose = (): void => finish({ kind: 'broken' })

  // A request that says it is too large is not read at all.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    finish({ kind: 'oversized' })
    return
  }
  // 'close' follows every end; an error without it never comes, and must not be unhandled.
  request.on('error', ignore)
  request.on('data', onData).on('end', onEnd).on('close', onClose)
}

function ignore(): void {}
