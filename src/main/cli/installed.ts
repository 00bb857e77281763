import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { findCacheFolder } from '../default-workspace.ts'
import { closeFolder, keepFilesPrivate, makeFolders } from '../engine/workspace/file-permissions.ts'

// Entry of the installed command. No top-level await, since scripts/pack-cli/sluice.cjs requires it.
keepFilesPrivate()
keepCompiledCode()
void import('./main.ts')

/** Has V8 keep compiled code, in this process and in its threads, unless the environment says otherwise. */
function keepCompiledCode(): void {
  const folder = join(findCacheFolder(), 'compiled')
  try {
    if (process.env['NODE_COMPILE_CACHE'] === undefined) {
      makeFolders(folder)
      // Never run code that another user could have written.
      if (closeFolder(folder) !== null) return
      // Threads read it from the environment.
      process.env['NODE_COMPILE_CACHE'] = folder
    }
    enableCompileCache(process.env['NODE_COMPILE_CACHE'])
  } catch {
    // Without a cache, for example on a read-only disk, the command only starts slower.
  }
}
