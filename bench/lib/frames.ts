import type { Browser, Page } from 'playwright-core'

/** The work of the page's main thread while frames were drawn, milliseconds of its own time. */
export interface Frames {
  frames: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** Frames that the screen skipped while the page was busy, by the wall clock. */
  dropped: number
}

interface TraceEvent {
  name: string
  /** `b` for the start of something that ends later. */
  ph: string
  pid: number
  tid: number
  /** Microseconds. */
  ts: number
  /** Microseconds. */
  dur?: number
  /** Microseconds of the thread's own time, without the time that the machine gave to others. */
  tdur?: number
  args?: { name?: string }
}

const CATEGORIES = ['toplevel', 'devtools.timeline', '__metadata']

/** Duration of a frame at 60 frames per second, microseconds. */
const FRAME_US = 1_000_000 / 60

/**
 * Measures a page's frames while `act` runs: the time of all tasks between the starts of consecutive frames.
 */
export async function measureFrames(browser: Browser, page: Page, act: () => Promise<void>): Promise<Frames> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await act()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[]
  }
  return readFrames(traceEvents)
}

function readFrames(events: readonly TraceEvent[]): Frames {
  const toThread = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(toThread),
  )
  const own = events.filter((event) => mains.has(toThread(event))).sort((a, b) => a.ts - b.ts)
  const begins = own.filter(({ name, ph }) => name === 'AnimationFrame' && ph === 'b').map(({ ts }) => ts)
  const tasks = own.filter(({ name }) => name.endsWith('RunTask'))
  const times = begins.slice(1).map(() => 0)
  const busyUs = times.map(() => 0)
  let frame = 0
  for (const { ts, dur = 0, tdur = 0 } of tasks) {
    while (frame < times.length && ts >= (begins[frame + 1] ?? 0)) frame += 1
    if (ts < (begins[0] ?? 0) || frame >= times.length) continue
    times[frame] = (times[frame] ?? 0) + tdur / 1000
    busyUs[frame] = (busyUs[frame] ?? 0) + dur
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    frames: times.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: sorted.at(-1) ?? 0,
    dropped: busyUs.reduce((sum, us) => sum + Math.floor(us / FRAME_US), 0),
  }
}
