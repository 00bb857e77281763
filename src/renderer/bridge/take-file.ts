import { UPLOAD_PATH } from '../../shared/bridge/browser-files.ts'
import { type ChosenSource, chosenSourceSchema } from '../../shared/bridge/source.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { findDesktopApi } from './desktop.ts'
import { upload } from './upload.ts'

/** How far an upload is, in bytes; for a folder, in files too. */
export interface UploadProgress {
  sent: number
  total: number
  files?: { sent: number; total: number }
}

/** Said of what the system hands over and is on no disk, such as an attachment dragged out of a mail program. */
function toNoFileError(name: string): SluiceError {
  return new SluiceError({ id: 'file_not_here', name })
}

/**
 * Makes a chosen file readable for the engine: in place on the desktop, by an upload in a browser. Throws a
 * `SluiceError` that says what to do.
 */
export async function takeFile(
  file: File,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<ChosenSource> {
  const desktop = findDesktopApi()
  if (desktop === null) {
    return upload({
      url: `${UPLOAD_PATH}?name=${encodeURIComponent(file.name)}`,
      body: file,
      name: file.name,
      parse: (answer) => chosenSourceSchema.safeParse(answer).data ?? null,
      onSent: (sent) => onProgress({ sent, total: file.size }),
      signal,
    })
  }
  const source = await desktop.takeFile(file)
  if (source === null) throw toNoFileError(file.name)
  return source
}
