import type { Page, WebSocketRoute } from 'playwright-core'

/** Messages between a page and the engine that can be kept from arriving for a while. */
export interface HeldMessages {
  /** From now on none arrives. */
  hold(): void
  /** Settles once one is held. */
  arrived(): Promise<void>
  /** Lets through what was held, in order, and everything after it. */
  release(): void
  /** Ends the connection as if it were lost, and what was held with it; lets through what follows. */
  lose(): void
}

/** Stands between the engine and a page once it is loaded again, and holds what the engine says. */
export async function holdAnswers(page: Page): Promise<HeldMessages> {
  const held = createHeld()
  await held.route(page, (socket, engine) => {
    engine.onMessage((message) => held.pass(() => socket.send(message)))
  })
  return held
}

/** Stands between a page, once it is loaded again, and the engine, and holds what the page sends to a procedure. */
export async function holdCalls(page: Page, procedure: string): Promise<HeldMessages & { sent: string[] }> {
  const held = createHeld()
  const sent: string[] = []
  await held.route(page, (socket, engine) => {
    socket.onMessage((message) => {
      const text = String(message)
      sent.push(text)
      if (text.includes(procedure)) held.pass(() => engine.send(message))
      else engine.send(message)
    })
  })
  return { ...held, sent }
}

type Connect = (socket: WebSocketRoute, engine: WebSocketRoute) => void

function createHeld(): HeldMessages & {
  route(page: Page, connect: Connect): Promise<void>
  pass(message: () => void): void
} {
  let waiting: (() => void)[] | null = null
  let arrived = Promise.withResolvers<void>()
  let ends: WebSocketRoute[] = []
  return {
    route: (page, connect) =>
      page.routeWebSocket(/./, (socket) => {
        const engine = socket.connectToServer()
        ends = [socket, engine]
        connect(socket, engine)
      }),
    hold() {
      waiting = []
      arrived = Promise.withResolvers()
    },
    arrived: () => arrived.promise,
    release() {
      const passes = waiting ?? []
      waiting = null
      for (const pass of passes) pass()
    },
    lose() {
      waiting = null
      for (const end of ends) void end.close()
    },
    pass(message) {
      if (waiting === null) return message()
      waiting.push(message)
      arrived.resolve()
    },
  }
}
