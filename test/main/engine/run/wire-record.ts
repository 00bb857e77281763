import type { FaultServer, WireRequest } from '../../../helpers/fault-server.ts'

/** The post_id of a request. */
function toPostId(request: WireRequest): string {
  return (JSON.parse(request.body) as { post_id: string }).post_id
}

/** The row of a request: post_ids of the tests end in it. */
export function toRow(request: WireRequest): number {
  return Number(toPostId(request).split('-').at(-1))
}

/** The bodies that came for each row, in order of arrival. */
export function listBodies(server: FaultServer): Map<number, string[]> {
  const bodies = new Map<number, string[]>()
  for (const request of server.requests) {
    const row = toRow(request)
    bodies.set(row, [...(bodies.get(row) ?? []), request.body])
  }
  return bodies
}

/** How often each row came, in row order. */
export function countArrivals(server: FaultServer): number[] {
  return [...listBodies(server)].sort(([a], [b]) => a - b).map(([, bodies]) => bodies.length)
}
