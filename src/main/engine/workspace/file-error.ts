import { EXIT, SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

const REASONS: Record<string, { found: string; hint: string }> = {
  EACCES: {
    found: 'writing there is not permitted',
    hint: 'Choose another folder, close the file where a spreadsheet has it open, or change who may write there.',
  },
  EISDIR: { found: 'that is a folder', hint: 'Add a file name that ends in .csv, .xlsx or .jsonl.' },
  ENOENT: { found: 'its folder does not exist', hint: 'Make the folder first, or choose another.' },
  ENOTDIR: { found: 'a part of the path is a file, not a folder', hint: 'Check the path.' },
  EROFS: { found: 'the file system is read-only', hint: 'Choose another folder.' },
  ENAMETOOLONG: { found: 'the name is too long', hint: 'Choose a shorter name.' },
}

const SAME_AS: Record<string, string> = { EPERM: 'EACCES', EBUSY: 'EACCES' }

/** Turns what the file system says while a report is written into `DISK_FULL` or `FILE_UNWRITABLE`; others pass. */
export function toFileError(file: string, error: unknown): unknown {
  const code = toSystemCode(error)
  if (code === null || !(error instanceof Error && 'syscall' in error)) return error
  if (FULL.has(code)) {
    return new SluiceError({
      code: 'DISK_FULL',
      message: `${file}: could not be written whole, the disk is full (${code})`,
      hint: 'Free some space or choose another disk, then export again; a file that was there before is unchanged.',
      exitCode: EXIT.rowsFailed,
      cause: error,
    })
  }
  const reason = REASONS[SAME_AS[code] ?? code]
  return new SluiceError({
    code: 'FILE_UNWRITABLE',
    message: `${file}: cannot be written, ${reason?.found ?? `the file system says ${code}`}`,
    hint: reason?.hint ?? 'Check the disk or network drive, or choose another folder.',
    cause: error,
  })
}
