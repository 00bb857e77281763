import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { getAsset, getRawAsset } from 'node:sea'
import { findCacheFolder } from '../default-workspace.ts'
import { keepFilesPrivate } from '../engine/workspace/file-permissions.ts'
import { type PackedProgram, unpackProgram } from './unpack-program.ts'

// Entry of the executable (scripts/pack-binary), bundled as one CommonJS file. It unpacks the files of the
// installed command once and then runs them: modules, threads, pages and native code are found as in the npm
// package.

/** The environment variable that locates the cache, for error messages. */
const CACHE_VARIABLE =
  process.platform === 'win32' ? 'LOCALAPPDATA' : process.platform === 'darwin' ? 'HOME' : 'XDG_CACHE_HOME'

keepFilesPrivate()
const folder = unpack()
if (folder === null) process.exitCode = 2
// Node resolves links before it names modules.
else start(join(realpathSync(folder), 'main'))

function unpack(): string | null {
  const program: PackedProgram = JSON.parse(getAsset('program.json', 'utf8'))
  const cacheFolder = findCacheFolder()
  try {
    return unpackProgram(program, (path) => new Uint8Array(getRawAsset(path)), cacheFolder)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(
      `sluice: cannot unpack its files into ${cacheFolder}: ${reason}.\n` +
        `        Mend or delete that folder, or set ${CACHE_VARIABLE} to a folder that only you can write to.\n`,
    )
    return null
  }
}

/** Runs the command or, if Node's `fork` started this program with a file, that file. */
function start(main: string): void {
  const load = createRequire(join(main, 'installed.js'))
  const asked = process.argv.at(-1) ?? ''
  const isProcess = process.connected && dirname(asked) === main && /-process\.js$/.test(asked)
  load(isProcess ? asked : './installed.js')
}
