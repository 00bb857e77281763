import type { Page, WebSocketRoute } from 'playwright-core'

/** Messages between a page and the engine that can be delayed. */
export interface HeldMessages {
  /** Delays all messages from now on. */
  hold(): void
  /** Settles once a message is delayed. */
  arrived(): Promise<void>
  /** Delivers the delayed messages, in order, and everything after them. */
  release(): void
  /** Ends the connection as if it were lost, dropping delayed messages; delivers what follows. */
  lose(): void
}

/** Intercepts the engine's messages to a page after its next load: all, or its answers to some procedures. */
export async function holdAnswers(page: Page, procedures: RegExp | null = null): Promise<HeldMessages> {
  const held = createHeld()
  await held.route(page, (socket, engine) => {
    const asked = new Set<string>()
    socket.onMessage((message) => {
      if (procedures?.test(String(message))) asked.add(readId(message))
      engine.send(message)
    })
    engine.onMessage((message) => {
      if (procedures === null || asked.has(readId(message))) held.pass(() => socket.send(message))
      else socket.send(message)
    })
  })
  return held
}

/** The number of a call, which its answer repeats. */
function readId(message: string | Buffer): string {
  return /"i":"?(\w+)/.exec(String(message))?.[1] ?? ''
}

/** Intercepts a page's calls that contain some text, such as the procedure's name, after its next load. */
export async function holdCalls(
  page: Page,
  part: string | RegExp,
): Promise<HeldMessages & { sent: string[] }> {
  const held = createHeld()
  const sent: string[] = []
  await held.route(page, (socket, engine) => {
    socket.onMessage((message) => {
      const text = String(message)
      sent.push(text)
      if (text.search(part) !== -1) held.pass(() => engine.send(message))
      else engine.send(message)
    })
  })
  return { ...held, sent }
}

type Connect = (
  socket: WebSocketRoute,
  engine: Pick<WebSocketRoute, 'onMessage'> & { send(message: string | Buffer): void },
) => void

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
        const own = [socket, engine]
        ends = own
        connect(socket, {
          onMessage: (handler) => engine.onMessage(handler),
          // What a page was sending as its connection was lost goes nowhere; a browser complains of it.
          send: (message) => ends === own && engine.send(message),
        })
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
      const lost = ends
      ends = []
      for (const end of lost) void end.close()
    },
    pass(message) {
      if (waiting === null) return message()
      waiting.push(message)
      arrived.resolve()
    },
  }
}
