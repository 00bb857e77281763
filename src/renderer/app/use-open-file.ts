import { type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import type { ErrorDocument } from '../../shared/errors.ts'
import { findDesktopApi } from '../bridge/desktop.ts'
import { toShownError } from '../bridge/shown-error.ts'
import type { UploadProgress } from '../bridge/take-file.ts'
import { openFile, openSource } from './flow.ts'
import { goTo } from './use-route.ts'

/** Ways to a source: a file that was dropped, one chosen in the page's dialog, one chosen in the system's. */
export interface OpenFile {
  /** How far an upload is; null where none is under way. */
  upload: UploadProgress | null
  error: ErrorDocument | null
  open: (file: File) => void
  /** Asks for a file, whichever dialog there is. */
  choose: () => void
  /** The page's own file input. */
  picker: RefObject<HTMLInputElement | null>
}

/** See {@link OpenFile}. A second file gives up the upload of the first. */
export function useOpenFile(): OpenFile {
  const [upload, setUpload] = useState<UploadProgress | null>(null)
  const [error, setError] = useState<ErrorDocument | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  const giveUp = useRef<AbortController | null>(null)

  const open = useCallback((file: File) => {
    giveUp.current?.abort()
    const controller = new AbortController()
    giveUp.current = controller
    setError(null)
    setUpload({ sent: 0, total: file.size })
    goTo({ kind: 'draft', step: 'source' })
    openFile(file, setUpload, controller.signal)
      .catch((thrown: unknown) => {
        if (!controller.signal.aborted) setError(toShownError(thrown))
      })
      .finally(() => {
        if (giveUp.current === controller) setUpload(null)
      })
  }, [])

  const chooseNatively = useMemo(() => {
    const desktop = findDesktopApi()
    if (desktop === null) return null
    return () => {
      desktop.chooseSource().then(
        (path) => {
          if (path !== null) openSource({ path, name: toName(path), sizeBytes: 0 })
        },
        (thrown: unknown) => setError(toShownError(thrown)),
      )
    }
  }, [])

  const choose = useCallback(() => {
    if (chooseNatively !== null) chooseNatively()
    else picker.current?.click()
  }, [chooseNatively])
  return { upload, error, open, choose, picker }
}

function toName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path
}
