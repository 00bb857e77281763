import { join } from 'node:path'
import {
  MAPPINGS_MAX,
  type SavedMapping,
  savedMappingsSchema,
} from '../../../shared/mapping/saved-mappings.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { underLease } from './lease.ts'
import { readDocument, writeDocument } from './stored-document.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

/** Reads the mappings that were saved under a name. Throws `WORKSPACE_UNUSABLE` if the file is damaged. */
export function readSavedMappings(workspace: string): SavedMapping[] {
  return readDocument(toDocument(workspace), null)?.mappings ?? []
}

/**
 * Changes the saved mappings, one process at a time. Throws `WORKSPACE_UNUSABLE`, `BAD_USAGE` if there are
 * too many, and what `change` throws.
 */
export function changeSavedMappings(
  workspace: string,
  change: (mappings: readonly SavedMapping[]) => SavedMapping[],
): SavedMapping[] {
  createWorkspaceFolders(workspace)
  const document = toDocument(workspace)
  return underLease(document.file, `the saved mappings in ${document.file}`, () => {
    const mappings = change(readSavedMappings(workspace))
    if (mappings.length > MAPPINGS_MAX) throw new SluiceError({ id: 'mappings_full', most: MAPPINGS_MAX })
    writeDocument(document, { version: 1, mappings })
    return mappings
  })
}

function toDocument(workspace: string) {
  const file = join(workspace, 'mappings.json')
  return { file, schema: savedMappingsSchema, unusable: 'mappings_unusable' } as const
}
