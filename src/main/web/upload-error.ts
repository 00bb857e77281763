import { SluiceError } from '../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../shared/messages/thrown.ts'

/** What kept a file that a browser sent from being stored in `root`, as `DISK_FULL`, `BAD_SOURCE` or `FILE_UNWRITABLE`. */
export function toUploadError(error: unknown, root: string): SluiceError {
  if (error instanceof SluiceError) return error
  const code = toSystemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new SluiceError({ id: 'upload_disk_full', folder: root }, { cause: error })
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new SluiceError({ id: 'upload_cut_off' }, { cause: error })
  }
  return new SluiceError(
    { id: 'upload_unwritable', folder: root, reason: toThrownText(error) },
    { cause: error },
  )
}
