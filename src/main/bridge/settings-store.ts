import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  DEFAULT_SETTINGS,
  type SettingsChange,
  type StoredSettings,
  settingsSchema,
} from '../../shared/bridge/settings.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../shared/messages/thrown.ts'
import { takeLease } from '../engine/workspace/lease.ts'
import { readTextFile } from '../engine/workspace/regular-file.ts'
import { replaceFileSync } from '../engine/workspace/replace-file.ts'

function toFile(workspace: string): string {
  return join(workspace, 'settings.json')
}

/** Reads a person's settings for the window. An unusable file stays as it is, and the defaults apply. */
export function readSettings(workspace: string): StoredSettings {
  try {
    const settings = settingsSchema.parse(JSON.parse(readTextFile(toFile(workspace))))
    return { settings, damage: null, keptAs: null }
  } catch (error) {
    const isMissing = toSystemCode(error) === 'ENOENT'
    return { settings: DEFAULT_SETTINGS, damage: isMissing ? null : describe(error), keptAs: null }
  }
}

/**
 * Changes some settings, one process at a time. A damaged file is first moved aside under a name with the
 * time `now`, so that nothing is lost. Throws `WORKSPACE_UNUSABLE`.
 */
export function changeSettings(workspace: string, change: SettingsChange, now = new Date()): StoredSettings {
  const file = toFile(workspace)
  const lease = takeLease(file, `the settings in ${file}`)
  try {
    const { settings: stored, damage } = readSettings(workspace)
    const settings = { ...stored, ...change }
    const keptAs = damage === null ? null : toKeptFile(file, now)
    if (keptAs !== null) renameSync(file, keptAs)
    replaceFileSync(file, `${JSON.stringify(settings, null, 2)}\n`, { isPrivate: true })
    return { settings, damage: null, keptAs }
  } catch (error) {
    throw SluiceError.because(error, { id: 'settings_unwritable', file })
  } finally {
    lease.release()
  }
}

function toKeptFile(file: string, now: Date): string {
  return file.replace(/\.json$/, `.damaged-${now.toISOString().replace(/[-:.]/g, '')}.json`)
}

function describe(error: unknown): string {
  return error instanceof z.ZodError ? z.prettifyError(error) : toThrownText(error)
}
