import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { hashFile, type Installer } from './release-files.ts'
import { writeUpdateFeeds } from './update-feeds.ts'

/** An installed app to update, and the version to update it to. */
export interface UpdateTrial {
  /** The program to start: the AppImage or the installed program. */
  program: string
  from: string
  to: string
  /** The installer of the next version. */
  installer: string
  system: Installer['system']
  processor: Installer['processor']
  /** Port at which the app looks for updates. */
  port: number
  /** Folder for what the started app stores. */
  userData: string
  /** Presses the named button in the update dialog as soon as it appears. */
  press(button: string): Promise<void>
  say(line: string): void
  /** Time limit for each step, milliseconds. */
  withinMs: number
}

/** Serves the feed and the installer of the next version on loopback. */
async function serveUpdate(
  trial: Pick<UpdateTrial, 'installer' | 'system' | 'processor' | 'to' | 'port'>,
): Promise<{ asked: string[]; port: number; close(): void }> {
  const { installer, system, processor, to, port } = trial
  const name = basename(installer)
  const sizeBytes = statSync(installer).size
  const sha512 = (await hashFile(installer, 'sha512')).toString('base64')
  const ending = name.slice(name.lastIndexOf('.') + 1)
  const described = { name, system, processor, ending, sizeBytes, sha512 }
  const [feed] = writeUpdateFeeds([described], to, new Date().toISOString())
  const asked: string[] = []
  const server: Server = createServer(({ url = '' }, response) => {
    const path = url.replace(/^\/|\?.*$/g, '')
    asked.push(path)
    if (path === feed?.name) response.end(feed.text)
    else if (path === name) createReadStream(installer).pipe(response.setHeader('content-length', sizeBytes))
    else response.writeHead(404).end()
  })
  await new Promise<void>((settle, fail) => {
    server.once('error', fail)
    server.listen(port, '127.0.0.1', settle)
  })
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Polls until a value is there. Throws with the name of what it waited for after `withinMs`. */
async function until<T>(
  what: string,
  withinMs: number,
  look: () => T | null | Promise<T | null>,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs / 1000} s`)
    await wait(200)
  }
}

/** Starts the app and reads its version from the page over Chromium's developer tools protocol. */
async function startAndRead({ program, userData, withinMs }: UpdateTrial) {
  const portFile = join(userData, 'DevToolsActivePort')
  rmSync(portFile, { force: true })
  const args = ['--remote-debugging-port=0', `--user-data-dir=${userData}`]
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const gone = once(child, 'exit')
  const port = await until('the port of the debugger', withinMs, () =>
    existsSync(portFile) ? (/^[1-9]\d*/.exec(readFileSync(portFile, 'utf8'))?.[0] ?? null) : null,
  )
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
  try {
    const version = await until('a page with the version', withinMs, async () => {
      const pages = browser.contexts().flatMap((context) => context.pages())
      const texts = await Promise.all(pages.map((page) => page.innerText('body').catch(() => '')))
      return /\bSluice (\d+\.\d+\.\d+)/.exec(texts.join('\n'))?.[1] ?? null
    })
    return { version, child, gone }
  } finally {
    // Closes the connection, not the app.
    await browser.close()
  }
}

/**
 * Whether the app is the next version now. On Linux the AppImage is replaced, on Windows the installed files.
 */
async function isReplaced({ program, installer, system }: UpdateTrial): Promise<boolean> {
  if (system !== 'linux') return true
  const hashes = await Promise.all([program, installer].map((file) => hashFile(file, 'sha256')))
  return hashes[0]?.equals(hashes[1] ?? Buffer.alloc(0)) ?? false
}

/** Updates an installed app, pressing the button in each of its two questions. Throws if the update fails. */
export async function tryUpdate(trial: UpdateTrial): Promise<void> {
  const { from, to, installer, press, say, withinMs } = trial
  const served = await serveUpdate(trial)
  try {
    const before = await startAndRead(trial)
    if (before.version !== from) {
      before.child.kill()
      await before.gone
      throw new Error(`${before.version} was started, not ${from}`)
    }
    say(`${from} runs`)
    await press('Download')
    await until('the download', withinMs, () => (served.asked.includes(basename(installer)) ? true : null))
    say(`${to} was downloaded after a yes`)
    await press('Install and restart')
    await Promise.race([
      before.gone,
      wait(withinMs, null, { ref: false }).then(() => {
        throw new Error(`${from} did not end within ${withinMs / 1000} s`)
      }),
    ])
    say(`${from} has ended`)
    await until('the new program', withinMs, async () => ((await isReplaced(trial)) ? true : null))
    // On Windows the installer may still be running.
    const after = await until(`version ${to}`, withinMs, async () => {
      const started = await startAndRead(trial)
      started.child.kill()
      await started.gone
      return started.version === to ? started : null
    })
    say(`${after.version} runs`)
  } finally {
    served.close()
  }
}
