import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceUsage } from '../../../shared/bridge/settings.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { toUnreadable } from './is-there.ts'

/** Disk space used by a workspace, bytes. */
export type WorkspaceUsageBytes = Omit<WorkspaceUsage, 'lastCleanUp'>

/**
 * Adds up the files of a workspace. Files that vanish meanwhile are skipped; links are not followed. Rejects
 * with `WORKSPACE_UNUSABLE` for an unreadable folder.
 */
export async function measureWorkspace(workspace: string): Promise<WorkspaceUsageBytes> {
  const usage: WorkspaceUsageBytes = { runsBytes: 0, callbacksBytes: 0, otherBytes: 0 }
  const top = await listFolder(workspace, false)
  for (const entry of top) {
    const path = join(workspace, entry.name)
    const sizeBytes = entry.isDirectory()
      ? await measureFolder(path)
      : await measureFile(path, entry.isFile())
    if (entry.name === 'runs') usage.runsBytes += sizeBytes
    else if (/^inbox([.-]|$)/.test(entry.name)) usage.callbacksBytes += sizeBytes
    else usage.otherBytes += sizeBytes
  }
  return usage
}

async function measureFolder(folder: string): Promise<number> {
  const entries = await listFolder(folder, true)
  let sizeBytes = 0
  for (const entry of entries)
    sizeBytes += await measureFile(join(entry.parentPath, entry.name), entry.isFile())
  return sizeBytes
}

async function listFolder(folder: string, recursive: boolean): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true, recursive })
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return []
    throw toUnreadable(folder, error)
  }
}

async function measureFile(path: string, isFile: boolean): Promise<number> {
  if (!isFile) return 0
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
