import { appendFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { z } from 'zod'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { toUnreadable } from './is-there.ts'
import { readTextFile } from './regular-file.ts'
import { toExportsFile } from './workspace-files.ts'

const exportSchema = z.object({ path: z.string(), size: z.number(), mtimeMs: z.number() })

/** Notes an export inside the workspace, to be deleted with the run. Others belong to the person. */
export function noteExport(workspace: string, runId: string, file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() !== true) return
  const path = findInside(workspace, file)
  if (path === null) return
  const { size, mtimeMs } = found
  appendFileSync(toExportsFile(workspace, runId), `${JSON.stringify({ path, size, mtimeMs })}\n`, {
    mode: 0o600,
  })
}

/** Removes a run's exports inside the workspace, unless they have been overwritten since. */
export function removeExports(workspace: string, runId: string): void {
  for (const { path, size, mtimeMs } of readNoted(workspace, runId)) {
    const file = join(workspace, path)
    const found = statSync(file, { throwIfNoEntry: false })
    const isSame = found?.isFile() && found.size === size && found.mtimeMs === mtimeMs
    // The noted path may have been tampered with.
    if (isSame && findInside(workspace, file) !== null) rmSync(file, { force: true })
  }
}

/** The path of a file relative to the workspace; null if it is elsewhere. */
function findInside(workspace: string, file: string): string | null {
  const path = relative(realpathSync(workspace), realpathSync(file))
  return path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path) ? null : path
}

function readNoted(workspace: string, runId: string): z.infer<typeof exportSchema>[] {
  let text = ''
  try {
    text = readTextFile(toExportsFile(workspace, runId))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return []
    throw toUnreadable(toExportsFile(workspace, runId), error)
  }
  return text.split('\n').flatMap((line) => {
    try {
      return [exportSchema.parse(JSON.parse(line))]
    } catch {
      // The incomplete last line of a killed process.
      return []
    }
  })
}
