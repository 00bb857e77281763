import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { onTestFinished, vi } from 'vitest'

/** A packaged app that was started as a person does, seen from outside. */
export interface StartedApp {
  page: Page
  /** Ends the app without notice, as a crash or a power loss does. */
  kill(): Promise<void>
}

/** Where an app that is started twice finds what it left. */
export interface AppFolders {
  userData: string
  workspace: string
}

const STARTS_WITHIN_MS = 60_000

/** The port of the app's debugger, which it writes into its folder when it listens. */
function readDebuggerPort(userData: string): number {
  const [port = ''] = readFileSync(join(userData, 'DevToolsActivePort'), 'utf8').split('\n')
  if (!/^[1-9]\d*$/.test(port)) throw new Error('the app has not written the port of its debugger yet')
  return Number(port)
}

/** Starts a packaged app and waits for its first screen. It ends with the running test at the latest. */
export async function startPackagedApp(
  program: string,
  { userData, workspace }: AppFolders,
): Promise<StartedApp> {
  // The file of an app that was killed would name a port that nobody, or somebody else, listens on.
  rmSync(join(userData, 'DevToolsActivePort'), { force: true })
  const child = spawn(program, ['--remote-debugging-port=0', `--user-data-dir=${userData}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, SLUICE_WORKSPACE: workspace },
  })
  const gone = once(child, 'exit')
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await gone
  }
  onTestFinished(kill)
  const port = await Promise.race([
    vi.waitFor(() => readDebuggerPort(userData), { timeout: STARTS_WITHIN_MS }),
    gone.then(([code, signal]): never => {
      throw new Error(`the app ended with ${code ?? signal} before it showed a window`)
    }),
  ])
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
  const [context] = browser.contexts()
  if (context === undefined) throw new Error('the app has no pages')
  const page = context.pages()[0] ?? (await context.waitForEvent('page'))
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  return { page, kill }
}
