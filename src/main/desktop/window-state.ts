import { readFileSync, writeFileSync } from 'node:fs'
import { type BrowserWindow, type Rectangle, screen } from 'electron'
import { z } from 'zod'

const stateSchema = z.object({
  x: z.int(),
  y: z.int(),
  width: z.int().min(1),
  height: z.int().min(1),
  isMaximized: z.boolean(),
})

/** Where a window stands, in the system's points. */
export type WindowState = z.infer<typeof stateSchema>

/** How much of a window has to be on a screen, points, so that a person can take hold of it. */
const VISIBLE_MIN = 100

function isVisible(state: Rectangle): boolean {
  return screen.getAllDisplays().some(({ workArea: area }) => {
    const width = Math.min(state.x + state.width, area.x + area.width) - Math.max(state.x, area.x)
    const height = Math.min(state.y + state.height, area.y + area.height) - Math.max(state.y, area.y)
    return width >= VISIBLE_MIN && height >= VISIBLE_MIN && state.y >= area.y
  })
}

/** Where the window stood when it was closed; null without such a note, or if no screen shows that place any more. */
export function readWindowState(file: string): WindowState | null {
  try {
    const state = stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    return isVisible(state) ? state : null
  } catch {
    return null
  }
}

/** Notes where the window stands when it is closed. A place that cannot be noted is forgotten. */
export function keepWindowState(window: BrowserWindow, file: string): void {
  window.on('close', () => {
    const state: WindowState = { ...window.getNormalBounds(), isMaximized: window.isMaximized() }
    try {
      writeFileSync(file, JSON.stringify(state))
    } catch {
      // The window opens in the middle next time.
    }
  })
}
