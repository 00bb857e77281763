import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { findCacheFolder } from '../default-workspace.ts'
import { closeFolder, keepFilesPrivate, makeFolders } from '../engine/workspace/file-permissions.ts'

// The entry of the installed command (scripts/pack-cli/sluice.cjs). It has no top-level await, since it is required.
keepFilesPrivate()
keepCompiledCode()
void import('./main.ts')

/** Has V8 keep compiled code, in this process and in its threads, unless its owner says otherwise in the environment. */
function keepCompiledCode(): void {
  const folder = join(findCacheFolder(), 'compiled')
  try {
    if (process.env['NODE_COMPILE_CACHE'] === undefined) {
      makeFolders(folder)
      // Code that another user could have written must not run.
      if (closeFolder(folder) !== null) return
      // Threads read it from the environment.
      process.env['NODE_COMPILE_CACHE'] = folder
    }
    enableCompileCache(process.env['NODE_COMPILE_CACHE'])
  } catch {
    // Without a cache, such as on a read-only disk, the command only starts slower.
  }
}
