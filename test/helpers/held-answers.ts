import { type FaultServer, startFaultServer, toTaskAnswer } from './fault-server.ts'

/** A service that answers the row of a text such as `hello number 5` only after its release. */
export interface HeldAnswers extends FaultServer {
  /** Answers these rows, both those that have arrived and those still to come. */
  release(rows: Iterable<number>): void
}

/** Starts the service, closed when the current test ends. */
export async function startHeldAnswers(): Promise<HeldAnswers> {
  const released = new Set<number>()
  const waiting = new Map<number, () => void>()
  const service = await startFaultServer({
    onRequest: (request, wire) => {
      const row = Number(/number (\d+)/.exec(request.body)?.[1])
      const answer = () => wire.send(200, toTaskAnswer(request))
      if (released.has(row)) answer()
      else waiting.set(row, answer)
    },
  })
  const release = (rows: Iterable<number>) => {
    for (const row of rows) {
      released.add(row)
      waiting.get(row)?.()
      waiting.delete(row)
    }
  }
  return Object.assign(service, { release })
}
