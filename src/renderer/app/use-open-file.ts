import { type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import type { WordedError } from '../../shared/messages/error-messages.ts'
import { findDesktopApi } from '../bridge/desktop.ts'
import { toShownError } from '../bridge/shown-error.ts'
import { takeFile, type UploadProgress } from '../bridge/take-file.ts'
import { type BrowserFolder, takeFolder } from '../bridge/take-folder.ts'
import { openSource } from './flow.ts'
import { goTo } from './use-route.ts'

/** Ways to a source: dropped, chosen in the page's dialog, chosen in the system's; a file or a folder. */
export interface OpenFile {
  /** How far an upload is; null where none is under way. */
  upload: UploadProgress | null
  error: WordedError | null
  open: (file: File) => void
  /** Takes a folder that a browser has read; null says that it could not. */
  openFolder: (folder: BrowserFolder | Promise<BrowserFolder>) => void
  /** Asks for a file, whichever dialog there is. */
  choose: () => void
  /** Asks for a folder, whichever dialog there is. */
  chooseFolder: () => void
  /** The page's own inputs. */
  picker: RefObject<HTMLInputElement | null>
  folderPicker: RefObject<HTMLInputElement | null>
}

type Take = (onProgress: (progress: UploadProgress) => void, signal: AbortSignal) => Promise<ChosenSource>

/** See {@link OpenFile}. A second choice gives up the upload of the first. */
export function useOpenFile(): OpenFile {
  const [upload, setUpload] = useState<UploadProgress | null>(null)
  const [error, setError] = useState<WordedError | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  const folderPicker = useRef<HTMLInputElement>(null)
  const giveUp = useRef<AbortController | null>(null)

  const take = useCallback((work: Take, total: number) => {
    giveUp.current?.abort()
    const controller = new AbortController()
    giveUp.current = controller
    setError(null)
    setUpload({ sent: 0, total })
    goTo({ kind: 'draft', step: 'source' })
    work(setUpload, controller.signal)
      .then(openSource)
      .catch((thrown: unknown) => {
        if (!controller.signal.aborted) setError(toShownError(thrown))
        controller.abort()
      })
      .finally(() => {
        if (giveUp.current === controller) setUpload(null)
      })
  }, [])
  const open = useCallback(
    (file: File) => take((onProgress, signal) => takeFile(file, onProgress, signal), file.size),
    [take],
  )
  const openFolder = useCallback(
    (folder: BrowserFolder | Promise<BrowserFolder>) =>
      take(async (onProgress, signal) => takeFolder(await folder, onProgress, signal), 0),
    [take],
  )

  const desktop = useMemo(findDesktopApi, [])
  const takeChosen = useCallback((chosen: Promise<ChosenSource | null>) => {
    chosen.then(
      (source) => {
        if (source !== null) openSource(source)
      },
      (thrown: unknown) => setError(toShownError(thrown)),
    )
  }, [])
  const choose = useCallback(() => {
    if (desktop === null) picker.current?.click()
    else takeChosen(desktop.chooseSource())
  }, [desktop, takeChosen])
  const chooseFolder = useCallback(() => {
    if (desktop === null) folderPicker.current?.click()
    else takeChosen(desktop.chooseFolder())
  }, [desktop, takeChosen])
  return { upload, error, open, openFolder, choose, chooseFolder, picker, folderPicker }
}
