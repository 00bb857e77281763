import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findElectron } from '../../../scripts/find-electron.ts'
import { SHELLS, type ShellName } from '../../shells/flow-list.ts'
import { PROJECT_FOLDER } from '../build/bundles.ts'
import { findChromium } from '../e2e/find-chromium.ts'

/** A shell that tests can start, with its browser, Electron or app as `program`; or why they cannot. */
export type ShellChoice = { name: ShellName } & ({ program: string; version?: string } | { why: string })

/**
 * The shells for tests of flows: the one in `SLUICE_SHELL`, else each that is available. Throws if the
 * requested one is not.
 */
export function chooseShells(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): ShellChoice[] {
  const named = env['SLUICE_SHELL'] ?? ''
  if (named !== '' && !SHELLS.some((name) => name === named)) {
    throw new Error(`SLUICE_SHELL is ${named}, but must be one of ${SHELLS.join(', ')}`)
  }
  return SHELLS.map((name): ShellChoice => {
    if (named !== '' && named !== name) return { name, why: `SLUICE_SHELL=${named} leaves it out` }
    const found = findShell(name, env, platform)
    if (named === name && 'why' in found) throw new Error(`SLUICE_SHELL=${named} cannot run: ${found.why}`)
    return { name, ...found }
  })
}

type Found = { program: string; version?: string } | { why: string }

function findShell(name: ShellName, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Found {
  switch (name) {
    case 'browser':
      return findBrowser(env)
    case 'stand-in':
      return platform === 'win32'
        ? { why: 'It is a shell script, which Windows cannot start' }
        : findBrowser(env)
    case 'electron':
      return findMatchingElectron(env, platform)
    case 'packaged': {
      const program = env['SLUICE_PACKAGED_APP'] ?? ''
      return program === ''
        ? { why: 'SLUICE_PACKAGED_APP does not name the program of a packed app' }
        : { program }
    }
  }
}

function findBrowser(env: NodeJS.ProcessEnv): Found {
  const program = findChromium(env)
  return program === null
    ? { why: 'Chromium is not on the PATH, and SLUICE_CHROMIUM names none' }
    : { program }
}

/** Electron with the major version that Sluice is built for; another one would test something else. */
function findMatchingElectron(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Found {
  const folder = join(PROJECT_FOLDER, 'node_modules/electron')
  const found = findElectron(folder, env, platform)
  if ('why' in found) return found
  const { version: wanted } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string
  }
  return [wanted.split('.')[0], 'unknown'].includes(found.version.split('.')[0])
    ? found
    : { why: `${found.program} is Electron ${found.version}; the tests need ${wanted}` }
}
