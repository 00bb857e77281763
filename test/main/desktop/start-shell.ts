import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, vi } from 'vitest'
import type { DesktopParts } from '../../../src/main/bridge/bridge-context.ts'
import { createCrashes } from '../../../src/main/bridge/crashes.ts'
import { DESKTOP_API_NAME } from '../../../src/shared/bridge/desktop-api.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

/** The electron stand-in of the app under test. */
export let electron: typeof import('./electron-stand-in.ts')

/** Gives each test of a file a fresh stand-in, because Electron's modules exist once per process. */
export function standInForElectron(): void {
  beforeEach(async () => {
    vi.resetModules()
    electron = await import('./electron-stand-in.ts')
    vi.doMock('electron', () => electron)
    return () => vi.unstubAllGlobals()
  })
}

/** The part of a snapshot that the shell reads. */
export function toRun(phase: string, settled = 0, elapsedMs = 0, runId = '20261122-120000-1') {
  const rows = { read: 110, invalid: 10, succeeded: settled, rejected: 0, failed: 0, unknown: 0, overdue: 0 }
  return { runId, phase, rows, elapsedMs, load: null }
}

/** Starts the app over an engine reduced to the runs that the test sets. */
export async function start({
  args = [] as string[],
  home = createTemporaryFolder(),
  /** The question about each opened plan. */
  question = null as { source: string; sent: string } | null,
  updater = null as object | null,
} = {}) {
  electron.app.home = home
  // Electron creates it before the app is ready.
  mkdirSync(join(home, 'userData'), { recursive: true })
  const runs = { now: [] as ReturnType<typeof toRun>[], listeners: new Set<() => void>() }
  const say = (...now: ReturnType<typeof toRun>[]) => {
    runs.now = now
    for (const listener of [...runs.listeners]) listener()
  }
  const crashes = createCrashes(() => null)
  const { startDesktop } = await import('../../../src/main/desktop/start-desktop.ts')
  let closed = 0
  let fail = (_error: unknown) => {}
  let desktop: DesktopParts | null = null
  const options = {
    appUrl: 'app://sluice/',
    rendererFolder: '/nowhere/renderer',
    preloadFile: '/nowhere/preload.cjs',
    args: ['/app/sluice', ...args],
    onUncaught: (listener: typeof fail) => {
      fail = listener
    },
    releasesUrl: 'https://example.com/releases',
    createUpdater: async () => (updater === null ? null : { updater, createToken: () => ({}) }),
    openBridge: async () => ({
      files: {
        addSource: async (path: string) => ({ sourceId: `handle of ${path}`, name: 'a name', sizeBytes: 1 }),
        addExportFile: () => ({ targetId: '' }),
        openPlan: (path: string) => ({ planId: `handle of ${path}`, question }),
      },
      runs: {
        snapshots: () => runs.now,
        onChange(listener: () => void) {
          runs.listeners.add(listener)
          return () => runs.listeners.delete(listener)
        },
      },
      media: { answer: async () => null },
      crashes,
      listRuns: async () => [
        {
          run_id: '20261122-120000-1',
          state: 'completed',
          name: 'hidden',
          source: 'hidden',
          base_url: 'https://hidden',
        },
      ],
      attach: (parts: DesktopParts) => {
        desktop = parts
      },
      serve: () => {},
      close: async () => {
        closed += 1
      },
    }),
  }
  await startDesktop(options as unknown as Parameters<typeof startDesktop>[0])
  const window = electron.BrowserWindow.windows.at(-1)
  if (window === undefined) throw new Error('no window was opened')
  electron.sender.contents = window.webContents
  return {
    window,
    crashes,
    say,
    home,
    countClosed: () => closed,
    fail: (error: unknown) => fail(error),
    desktop: () => desktop as DesktopParts | null,
  }
}

/** Runs the part of the preload script that handles files opened from outside, in a page of its own. */
export async function openPage() {
  vi.stubGlobal('window', new EventTarget())
  await import('../../../src/main/desktop/preload.ts')
  const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
  let announced = 0
  api['onOpened']?.(() => {
    announced += 1
  })
  return { take: () => api['takeOpened']?.(), countAnnounced: () => announced }
}

/** Lets all due work happen. */
export const settle = () => new Promise((resolve) => setImmediate(resolve))
