import { statSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** Whether a path exists. Throws `WORKSPACE_UNUSABLE` if that cannot be told: unreadable is not missing. */
export function isThere(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    if (toSystemCode(error) === 'ENOENT') return false
    throw toUnreadable(path, error)
  }
}

/** Turns a file system error from reading a path of the workspace into `WORKSPACE_UNUSABLE`. */
export function toUnreadable(path: string, error: unknown): SluiceError {
  return SluiceError.because(error, { id: 'path_unreadable', path })
}
