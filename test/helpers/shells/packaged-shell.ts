import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { waitFor } from '../wait-for.ts'
import { readDebuggerAddress } from './debugger-address.ts'
import { type Shell, type ShellFolders, watchEnd } from './shell.ts'

const STARTS_WITHIN_MS = 60_000

/** A packed app. Its fuses block the debugger of its main process; that of its pages works. */
export function createPackagedShell(program: string): Shell {
  const startProgram = ({ userData, workspace }: ShellFolders, ...args: string[]) =>
    spawn(program, [`--user-data-dir=${userData}`, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, SLUICE_WORKSPACE: workspace },
    })
  return {
    async start(folders, file) {
      // The file of a killed app would name a port on which nobody, or somebody else, listens.
      rmSync(join(folders.userData, 'DevToolsActivePort'), { force: true })
      const end = watchEnd(
        startProgram(folders, '--remote-debugging-port=0', ...(file === undefined ? [] : [file])),
      )
      const address = await Promise.race([
        waitFor(() => readDebuggerAddress(folders.userData), { timeout: STARTS_WITHIN_MS }),
        end.ended.then((code): never => {
          throw new Error(`the app ended with ${code ?? 'a signal'} before it showed a window`)
        }),
      ])
      const browser = await chromium.connectOverCDP(address)
      const [context] = browser.contexts()
      if (context === undefined) throw new Error('the app has no pages')
      return { page: context.pages()[0] ?? (await context.waitForEvent('page')), ...end }
    },
    startAgain: (folders, file) => watchEnd(startProgram(folders, file)).ended,
  }
}
