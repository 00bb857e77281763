import { join } from 'node:path'
import {
  MAPPINGS_MAX,
  type SavedMapping,
  savedMappingsSchema,
} from '../../../shared/mapping/saved-mappings.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { takeLease } from './lease.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'
import { toStoreError } from './store-error.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

/** The mappings that were saved under a name. Throws `WORKSPACE_UNUSABLE` where their file is damaged. */
export function readSavedMappings(workspace: string): SavedMapping[] {
  const file = toFile(workspace)
  try {
    return savedMappingsSchema.parse(JSON.parse(readTextFile(file))).mappings
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return []
    throw toStoreError('mappings_unusable', file, error)
  }
}

/** Changes them, one process at a time. Throws `WORKSPACE_UNUSABLE`, `BAD_USAGE` where there are too many, and what `change` throws. */
export function changeSavedMappings(
  workspace: string,
  change: (mappings: readonly SavedMapping[]) => SavedMapping[],
): SavedMapping[] {
  createWorkspaceFolders(workspace)
  const file = toFile(workspace)
  const lease = takeLease(file, `the saved mappings in ${file}`)
  try {
    const mappings = change(readSavedMappings(workspace))
    if (mappings.length > MAPPINGS_MAX) throw new SluiceError({ id: 'mappings_full', most: MAPPINGS_MAX })
    try {
      const text = JSON.stringify(savedMappingsSchema.parse({ version: 1, mappings }), null, 2)
      replaceFileSync(file, `${text}\n`, { isPrivate: true })
    } catch (error) {
      throw toStoreError('mappings_unusable', file, error)
    }
    return mappings
  } finally {
    lease.release()
  }
}

function toFile(workspace: string): string {
  return join(workspace, 'mappings.json')
}
