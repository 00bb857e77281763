import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that answers the first tasks and holds the answers to all others. */
export interface HoldingService {
  baseUrl: string
  /** Settles once that many answers are held. */
  untilHeld(count: number): Promise<void>
  /** Sends all held answers, and from now on answers every task. */
  release(): void
  close(): Promise<void>
}

/** Starts the service on loopback. */
export async function startHoldingService(answered: number): Promise<HoldingService> {
  const held: (() => void)[] = []
  let waiting: { count: number; resolve: () => void } | null = null
  let arrivals = 0
  let isReleased = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { post_id: postId } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      arrivals += 1
      if (arrivals <= answered || isReleased) answer(response, postId)
      else held.push(() => answer(response, postId))
      if (waiting !== null && held.length >= waiting.count) waiting.resolve()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    untilHeld: (count) =>
      new Promise((resolve) => {
        if (held.length >= count) resolve()
        else waiting = { count, resolve }
      }),
    release: () => {
      isReleased = true
      for (const send of held.splice(0)) send()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(response: ServerResponse, postId: string): void {
  const rules = postId.endsWith('3') ? [{ rule_id: 'r3', rule_name: 'Ends in three' }] : []
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({ task_id: `t-${postId}`, post_id: postId, user_id: 'u', triggered_rules: rules }),
  )
}
