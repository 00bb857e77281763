import type { Page } from 'playwright-core'

/** Keeps what the engine says from reaching the page for a while. */
export interface HeldMessages {
  /** From now on nothing that the engine says reaches the page. */
  hold(): void
  /** Lets through what was held, in order, and everything after it. */
  release(): void
}

/** Reloads the page so that what the engine says can be held back from it. */
export async function holdMessages(page: Page): Promise<HeldMessages> {
  let waiting: (() => void)[] | null = null
  await page.routeWebSocket(/./, (socket) => {
    const engine = socket.connectToServer()
    engine.onMessage((message) => {
      const pass = () => socket.send(message)
      if (waiting === null) pass()
      else waiting.push(pass)
    })
  })
  await page.reload()
  return {
    hold() {
      waiting ??= []
    },
    release() {
      const passes = waiting ?? []
      waiting = null
      for (const pass of passes) pass()
    },
  }
}
