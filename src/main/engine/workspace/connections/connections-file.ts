import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../../../shared/messages/thrown.ts'
import { type Connections, connectionsSchema } from '../../../../shared/plan/stored-connection.ts'
import { type Lease, takeLease } from '../lease.ts'
import { replaceFileSync } from '../replace-file.ts'
import { createWorkspaceFolders } from '../workspace-files.ts'

const NO_CONNECTIONS: Connections = { version: 1, inUse: null, connections: [] }

/** Where a workspace keeps its connections. */
export function toConnectionsFile(workspace: string): string {
  return join(workspace, 'connections.json')
}

/** The connections of a workspace; none where nothing was stored yet. Throws `WORKSPACE_UNUSABLE`. */
export function readConnections(workspace: string): Connections {
  const file = toConnectionsFile(workspace)
  const text = readText(file)
  if (text === null) return NO_CONNECTIONS
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw damaged(file, toThrownText(error))
  }
  const parsed = connectionsSchema.safeParse(value)
  if (parsed.success) return parsed.data
  // Paths and expectations only: what was found may be a secret that somebody wrote there by hand.
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`,
  )
  throw damaged(file, issues.join('; '))
}

/**
 * Reads the connections, changes them and writes them back, one process after the other; others read them whole,
 * before or after. What `change` throws leaves everything as it was. Throws `WORKSPACE_UNUSABLE`.
 */
export function changeConnections(
  workspace: string,
  change: (connections: Connections) => Connections,
): Connections {
  createWorkspaceFolders(workspace)
  const file = toConnectionsFile(workspace)
  const lease = takeTurn(file)
  try {
    const changed = connectionsSchema.parse(change(readConnections(workspace)))
    try {
      replaceFileSync(file, `${JSON.stringify(changed, null, 2)}\n`, { isPrivate: true })
    } catch (error) {
      throw new SluiceError(
        { id: 'connections_unwritable', file, reason: toThrownText(error) },
        { cause: error },
      )
    }
    return changed
  } finally {
    lease.release()
  }
}

function takeTurn(file: string): Lease {
  try {
    return takeLease(file, file)
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'RUN_BUSY') throw error
    throw new SluiceError({ id: 'connections_busy', file })
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return null
    throw new SluiceError(
      { id: 'connections_unreadable', file, reason: toThrownText(error) },
      { cause: error },
    )
  }
}

function damaged(file: string, what: string): SluiceError {
  return new SluiceError({ id: 'connections_damaged', file, reason: what })
}
