import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The headless shell draws the same pages without a browser around them, in three quarters of the time. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

/**
 * Path of a Chromium: the one in `SLUICE_CHROMIUM`, else the first of its names on the PATH; null for none.
 */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  const named = env['SLUICE_CHROMIUM']
  if (named !== undefined && named !== '') return named
  for (const name of NAMES) {
    for (const folder of (env['PATH'] ?? '').split(delimiter)) {
      const file = join(folder, name)
      if (folder !== '' && existsSync(file)) return file
    }
  }
  return null
}

/** Arguments for Chromium: nothing that reaches beyond this machine, and no sandbox if root forbids it. */
export const CHROMIUM_ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]
