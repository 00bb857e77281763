import { type FaultServer, startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'

/** A service that answers a task only when the test says so. */
export interface HoldingService extends FaultServer {
  /** Answers all waiting tasks, oldest first, and every later one. */
  release(): void
  /** Answers this many waiting tasks, oldest first. */
  answer(count: number): void
}

/** Starts a service that accepts every task at the test's pace. */
export async function startHoldingService(): Promise<HoldingService> {
  const waiting: (() => void)[] = []
  let isReleased = false
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const answer = (): void => wire.send(200, toTaskAnswer(request))
      if (isReleased) answer()
      else waiting.push(answer)
    },
  })
  const answerSome = (count: number): void => {
    for (const answer of waiting.splice(0, count)) answer()
  }
  return Object.assign(server, {
    answer: answerSome,
    release: () => {
      isReleased = true
      answerSome(waiting.length)
    },
  })
}
