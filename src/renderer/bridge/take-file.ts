import { UPLOAD_PATH, type Uploaded, uploadedSchema } from '../../shared/bridge/browser-files.ts'
import { SluiceError } from '../../shared/errors.ts'
import { findDesktopApi } from './desktop.ts'

/** How far an upload is, in bytes. */
export interface UploadProgress {
  sent: number
  total: number
}

/**
 * Makes a chosen file readable for the engine: in place on the desktop, by an upload in a browser. Throws a
 * `SluiceError` that says what to do.
 */
export async function takeFile(
  file: File,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<Uploaded> {
  const desktop = findDesktopApi()
  if (desktop === null) return upload(file, onProgress, signal)
  const path = desktop.pathForFile(file)
  if (path === '') {
    throw new SluiceError({
      code: 'BAD_SOURCE',
      message: `${file.name} is not a file on this machine`,
      hint: 'Save it to a folder first, then drop it from there.',
    })
  }
  return { path, name: file.name, sizeBytes: file.size }
}

// XMLHttpRequest rather than fetch: it alone says how far an upload is, and streams from disk in every browser.
function upload(
  file: File,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<Uploaded> {
  const { promise, resolve, reject } = Promise.withResolvers<Uploaded>()
  const request = new XMLHttpRequest()
  request.open('PUT', `${UPLOAD_PATH}?name=${encodeURIComponent(file.name)}`)
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.upload.addEventListener('progress', (event) => onProgress({ sent: event.loaded, total: file.size }))
  request.addEventListener('load', () => {
    const uploaded = uploadedSchema.safeParse(parseJson(request.responseText))
    if (request.status === 201 && uploaded.success) resolve(uploaded.data)
    else reject(toUploadError(file, request))
  })
  request.addEventListener('error', () => reject(toUploadError(file, request)))
  request.addEventListener('abort', () => reject(new DOMException('The upload was given up', 'AbortError')))
  signal.addEventListener('abort', () => request.abort())
  request.send(file)
  return promise
}

function toUploadError(file: File, request: XMLHttpRequest): SluiceError {
  const answer = parseJson(request.responseText)
  const isDocument = typeof answer === 'object' && answer !== null && 'message' in answer && 'hint' in answer
  return new SluiceError({
    code: 'BAD_SOURCE',
    message: isDocument ? String(answer.message) : `${file.name} could not be handed to Sluice`,
    hint: isDocument
      ? String(answer.hint)
      : 'Check that the file can still be read and was not changed meanwhile, then choose it again.',
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
