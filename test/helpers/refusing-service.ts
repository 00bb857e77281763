import { type FaultServer, startFaultServer, toErrorAnswer, toTaskAnswer } from './fault-server.ts'

/** A service that refuses texts that contain "refuse", and accepts everything else. */
export function startRefusingService(): Promise<FaultServer> {
  return startFaultServer({
    onRequest: (request, wire) => {
      const { text_data: text = '' } = JSON.parse(request.body) as { text_data?: string }
      if (text.includes('refuse')) wire.send(400, toErrorAnswer(400, 'INVALID_PARAM', 'no'))
      else wire.send(200, toTaskAnswer(request))
    },
  })
}

/** The parsed bodies of received requests. */
export function listSent({ requests }: FaultServer): Record<string, unknown>[] {
  return requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
}
