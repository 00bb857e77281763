import { join } from 'node:path'
import {
  isRetaining,
  NO_RETENTION,
  type Retention,
  retentionSchema,
} from '../../../shared/lookback/retention.ts'
import { readDocument, writeDocument } from './stored-document.ts'
import { createWorkspaceFolders } from './workspace-files.ts'

function toDocument(workspace: string) {
  const file = join(workspace, 'retention.json')
  return { file, schema: retentionSchema, unusable: 'retention_unusable' } as const
}

/** Reads a workspace's stored limits for `runs prune`. Throws `WORKSPACE_UNUSABLE` if the file is damaged. */
export function readRetention(workspace: string): Retention {
  return readDocument(toDocument(workspace), NO_RETENTION)
}

/** Stores the limits for `runs prune`; without any, removes the file. Throws `WORKSPACE_UNUSABLE`. */
export function writeRetention(workspace: string, retention: Retention): void {
  createWorkspaceFolders(workspace)
  writeDocument(toDocument(workspace), isRetaining(retention) ? retention : null)
}
