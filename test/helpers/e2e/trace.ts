import type { Browser, Page } from 'playwright-core'

interface TraceEvent {
  name: string
  pid: number
  tid: number
  /** Microseconds of the thread's own time; what the machine gave to others meanwhile is not in it. */
  tdur?: number
  args?: { name?: string }
}

const CATEGORIES = ['toplevel', 'devtools.timeline', '__metadata']

/**
 * The longest task of the page's main thread while `act` runs, in milliseconds of that thread's own time, and how many
 * tasks there were.
 */
export async function measureLongestTask(
  browser: Browser,
  page: Page,
  act: () => Promise<void>,
): Promise<{ longestMs: number; tasks: number }> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await act()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[]
  }
  const main = new Set(
    traceEvents
      .filter((event) => event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      .map((event) => `${event.pid}:${event.tid}`),
  )
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith('RunTask') && main.has(`${event.pid}:${event.tid}`),
  )
  return {
    longestMs: tasks.reduce((longest, task) => Math.max(longest, task.tdur ?? 0), 0) / 1000,
    tasks: tasks.length,
  }
}
