import { stat } from 'node:fs/promises'
import { basename, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OpenRequest } from '../../shared/bridge/desktop-api.ts'
import { isPlanName } from '../../shared/bridge/plans.ts'
import type { ExportTarget } from '../../shared/bridge/results.ts'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import type { OpenedPlans, PlanQuestion } from '../bridge/opened-plans.ts'
import { showMessage } from './window.ts'

export const LINK_SCHEME = 'sluice'

/** Valid run ids in a link; they are used only in the page's address. */
const RUN_ID = /^[\w.-]{1,100}$/

/**
 * The run in a link of the exact form `sluice://run/ID`; null for every other address. Links may come from
 * anybody, so they only show a run, and start, send or open nothing.
 */
function parseRunLink(link: string): string | null {
  if (!URL.canParse(link)) return null
  const { protocol, host, pathname, search, hash, username, password, port } = new URL(link)
  if (protocol !== `${LINK_SCHEME}:` || host !== 'run') return null
  if (`${search}${hash}${username}${password}${port}` !== '') return null
  const runId = pathname.slice(1)
  return RUN_ID.test(runId) ? runId : null
}

/** What was opened according to the system: a link, or a file or folder. */
export interface Opened {
  kind: 'link' | 'path'
  value: string
}

/** What the arguments of a start name, apart from options: the last link, or else the last path. */
export function findOpened(args: readonly string[], folder: string): Opened | null {
  const named = args.filter((argument) => argument !== '')
  const link = named.findLast((argument) => argument.startsWith(`${LINK_SCHEME}:`))
  if (link !== undefined) return { kind: 'link', value: link }
  const last = named.at(-1)
  const path = last?.startsWith('file:') ? toLocalPath(last) : last
  return path === undefined || path === null ? null : { kind: 'path', value: resolve(folder, path) }
}

/** The local path of a `file:` address, as Linux desktops pass it; null if it is on another machine. */
function toLocalPath(address: string): string | null {
  if (!URL.canParse(address) || new URL(address).host !== '') return null
  try {
    return fileURLToPath(address)
  } catch {
    return null
  }
}

const OPEN = 1

/** Asks, out of pages' reach, whether to open a plan that goes beyond stored connections or its folder. */
async function isTrusted(path: string, { source, sent }: PlanQuestion): Promise<boolean> {
  const pressed = await showMessage({
    type: 'warning',
    title: 'Open a plan',
    message: `Open the plan ${basename(path)}?`,
    detail: `It reads ${source} and sends ${sent}. Only open plans from people you trust. Nothing is sent before you have reviewed it.`,
    buttons: ['Cancel', 'Open'],
    defaultId: 0,
    cancelId: 0,
  })
  return pressed === OPEN
}

/** Registers what a person chose, so that the page gets a handle and no path. */
export interface ChosenFiles {
  /** Makes one source of one or more files, or of a folder. */
  addSource(path: string, ...more: readonly string[]): Promise<ChosenSource>
  addExportFile(path: string): ExportTarget
  openPlan(path: string): ReturnType<OpenedPlans['open']>
}

/**
 * Collects what a person opens through the system; the newest replaces older ones. `announce` is called
 * whenever something is waiting.
 */
export function createOpenRequests(files: ChosenFiles, announce: () => void) {
  let waiting: OpenRequest | null = null
  const put = (request: OpenRequest) => {
    waiting = request
    announce()
  }
  const openRun = (runId: string) => put({ kind: 'run', runId })
  const openPath = async (path: string) => {
    const found = isAbsolute(path) ? await stat(path).catch(() => null) : null
    if (found === null) return
    if (!found.isFile() || !isPlanName(path)) {
      put({ kind: 'source', source: await files.addSource(path) })
      return
    }
    const { planId, question } = files.openPlan(path)
    if (question === null || (await isTrusted(path, question))) put({ kind: 'plan', planId })
  }
  return {
    openPath,
    /** Opens one path, or several files as one source. */
    async openPaths([path, ...more]: readonly string[]): Promise<void> {
      if (path === undefined) return
      if (more.length === 0) await openPath(path)
      else put({ kind: 'source', source: await files.addSource(path, ...more) })
    },
    openLink(link: string): void {
      const runId = parseRunLink(link)
      if (runId !== null) openRun(runId)
    },
    openRun,
    /** Gives the waiting request to the page, once. */
    take(): OpenRequest | null {
      const request = waiting
      waiting = null
      return request
    },
  }
}

/** What a person has opened from outside, until the page takes it. */
export interface OpenRequests extends ReturnType<typeof createOpenRequests> {}
