import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../shared/messages/thrown.ts'

/** What kept a file that a browser sent from being stored in `root`, as `DISK_FULL`, `BAD_SOURCE` or `FILE_UNWRITABLE`. */
export function toUploadError(error: unknown, root: string): SluiceError {
  if (error instanceof SluiceError) return error
  const code = toSystemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new SluiceError({
      code: 'DISK_FULL',
      message: `the file does not fit on the disk that holds ${root}`,
      hint: 'Free some space there, or start Sluice with another --workspace, and choose the file again.',
      cause: error,
    })
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new SluiceError({
      code: 'BAD_SOURCE',
      message: 'the file did not arrive whole',
      hint: 'Choose it again; if it changes or moves meanwhile, copy it first.',
      cause: error,
    })
  }
  return new SluiceError({
    code: 'FILE_UNWRITABLE',
    message: `the file cannot be written to ${root}: ${toThrownText(error)}`,
    hint: 'See that the folder can be written, or start Sluice with another --workspace.',
    cause: error,
  })
}
