import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  isRetaining,
  NO_RETENTION,
  type Retention,
  retentionSchema,
} from '../../../shared/lookback/retention.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { readTextFile } from './regular-file.ts'
import { replaceFileSync } from './replace-file.ts'
import { toStoreError } from './store-error.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

function toFile(workspace: string): string {
  return join(workspace, 'retention.json')
}

/** The limits that a workspace stores for `runs prune`. Throws `WORKSPACE_UNUSABLE` where its file is damaged. */
export function readRetention(workspace: string): Retention {
  const file = toFile(workspace)
  try {
    return retentionSchema.parse(JSON.parse(readTextFile(file)))
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return NO_RETENTION
    throw toStoreError('retention_unusable', file, error)
  }
}

/** Stores them; none at all removes the file. Throws `WORKSPACE_UNUSABLE`. */
export function writeRetention(workspace: string, retention: Retention): void {
  createWorkspaceFolders(workspace)
  const file = toFile(workspace)
  try {
    if (isRetaining(retention)) {
      replaceFileSync(file, `${JSON.stringify(retention, null, 2)}\n`, { isPrivate: true })
    } else rmSync(file, { force: true })
  } catch (error) {
    throw toStoreError('retention_unusable', file, error)
  }
}
