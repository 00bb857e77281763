import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Turns what the file system says while a report is written into `DISK_FULL` or `FILE_UNWRITABLE`; others pass. */
export function toFileError(file: string, error: unknown): unknown {
  const code = toSystemCode(error)
  if (code === null || !(error instanceof Error && 'syscall' in error)) return error
  if (FULL.has(code)) {
    return new SluiceError({ id: 'file_disk_full', file, system: code }, { cause: error })
  }
  return new SluiceError({ id: 'file_unwritable', file, system: code }, { cause: error })
}
