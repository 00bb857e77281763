import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'
import { underLease } from '../workspace/lease.ts'
import { readTextFile } from '../workspace/regular-file.ts'
import { replaceFileSync } from '../workspace/replace-file.ts'

const settingsSchema = z.object({
  version: z.literal(1),
  /** 32 bytes, hex. Whoever knows it can forge callbacks. */
  secret: z.string().regex(/^[0-9a-f]{64}$/),
  /** The port on which the workspace's receiver always listens; null until it has listened once. */
  port: z.int().min(1).max(65_535).nullable(),
})

/** Settings that keep a workspace's callback and media URLs. The secret is in no journal, log or export. */
export type ReceiverSettings = Omit<z.infer<typeof settingsSchema>, 'version'>

export function toReceiverSettingsFile(workspace: string): string {
  return join(workspace, 'receiver.json')
}

/** Reads a workspace's receiver settings, creating them at first use. Throws `WORKSPACE_UNUSABLE`. */
export function readReceiverSettings(workspace: string): ReceiverSettings {
  return (
    findReceiverSettings(workspace) ??
    withLock(workspace, () => findReceiverSettings(workspace) ?? makeSettings(workspace))
  )
}

/** Stores the port for the workspace unless it has one; returns it. Throws `WORKSPACE_UNUSABLE`. */
export function keepReceiverPort(workspace: string, port: number): number {
  return withLock(workspace, () => {
    const settings = findReceiverSettings(workspace) ?? makeSettings(workspace)
    if (settings.port !== null) return settings.port
    writeSettings(workspace, { ...settings, port })
    return port
  })
}

function makeSettings(workspace: string): ReceiverSettings {
  const settings = { secret: randomBytes(32).toString('hex'), port: null }
  writeSettings(workspace, settings)
  return settings
}

/** Two processes that start at once must end up with one secret. */
function withLock<Result>(workspace: string, work: () => Result): Result {
  const file = toReceiverSettingsFile(workspace)
  return underLease(file, file, work)
}

/** A workspace's receiver settings; null before their first use. Throws `WORKSPACE_UNUSABLE`. */
export function findReceiverSettings(workspace: string): ReceiverSettings | null {
  const file = toReceiverSettingsFile(workspace)
  let text: string
  try {
    text = readTextFile(file)
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return null
    throw SluiceError.because(error, { id: 'receiver_settings_unreadable', file })
  }
  try {
    const { secret, port } = settingsSchema.parse(JSON.parse(text))
    return { secret, port }
  } catch {
    // The file holds a secret, so the message quotes nothing from it.
    throw new SluiceError({ id: 'receiver_settings_damaged', file })
  }
}

function writeSettings(workspace: string, settings: ReceiverSettings): void {
  const file = toReceiverSettingsFile(workspace)
  try {
    const text = `${JSON.stringify({ version: 1, ...settings }, null, 2)}\n`
    // Flushed before it replaces the old file: a lost secret would invalidate every issued URL.
    replaceFileSync(file, text, { isPrivate: true })
  } catch (error) {
    throw SluiceError.because(error, { id: 'receiver_settings_unwritable', file })
  }
}
