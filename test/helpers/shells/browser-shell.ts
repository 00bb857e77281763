import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { BUNDLED_CLI } from '../build/bundles.ts'
import { openBrowser } from '../e2e/open-app.ts'
import { type Shell, watchEnd } from './shell.ts'

/** `sluice open`, built and in its own process, with a page of the tests' browser. */
export const browserShell: Shell = {
  async start({ workspace }) {
    const args = [BUNDLED_CLI, 'open', '--no-browser', '--workspace', workspace]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const end = watchEnd(child)
    const [entry] = await once(createInterface(child.stdout), 'line')
    const context = await (await openBrowser()).newContext({ reducedMotion: 'reduce' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(String(entry))
    return { page, ...end }
  },
}
