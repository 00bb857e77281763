import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { isPlanName } from '../../shared/bridge/plans.ts'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { ACCEPTED_SOURCES } from '../../shared/plan/source-formats.ts'
import { findDesktopApi } from '../bridge/client.ts'
import {
  type BrowserFolder,
  type Chosen,
  listDropped,
  takeAll,
  takeFile,
  takeFolder,
  toBrowserFolder,
  type UploadProgress,
} from '../bridge/take-files.ts'
import { openSource } from './flow.ts'
import { goTo } from './route.ts'

/** Ways to open a source: drop it, or choose it in the page's or the system's dialog; a file or a folder. */
export interface OpenFile {
  /** Progress of an upload; null if there is none. */
  upload: UploadProgress | null
  error: unknown
  /** The opened plan file on screen; null if there is none. */
  planId: string | null
  closePlan: () => void
  open: (file: File) => void
  /** Opens everything that was chosen or dropped at once, as one source. */
  openAll: (chosen: readonly Chosen[]) => void
  /** Opens a folder that a browser has read; null if it could not. */
  openFolder: (folder: BrowserFolder | Promise<BrowserFolder>) => void
  /** Asks for a file, in whichever dialog is available. */
  choose: () => void
  /** Asks for a folder, in whichever dialog is available. */
  chooseFolder: () => void
  /** The page's own inputs. */
  picker: RefObject<HTMLInputElement | null>
  folderPicker: RefObject<HTMLInputElement | null>
}

type Take = (onProgress: (progress: UploadProgress) => void, signal: AbortSignal) => Promise<ChosenSource>

/** See {@link OpenFile}. A second choice gives up the upload of the first. */
export function useOpenFile(): OpenFile {
  const [upload, setUpload] = useState<UploadProgress | null>(null)
  const [error, setError] = useState<unknown>(null)
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
        if (!controller.signal.aborted) setError(thrown)
        controller.abort()
      })
      .finally(() => {
        if (giveUp.current === controller) setUpload(null)
      })
  }, [])
  const openFolder = useCallback(
    (folder: BrowserFolder | Promise<BrowserFolder>) =>
      take(async (onProgress, signal) => takeFolder(await folder, onProgress, signal), 0),
    [take],
  )

  const fail = useCallback((thrown: unknown) => {
    setError(thrown)
    goTo({ kind: 'draft', step: 'source' })
  }, [])
  const [planId, setPlanId] = useState<string | null>(null)
  const closePlan = useCallback(() => setPlanId(null), [])
  const desktop = useMemo(findDesktopApi, [])
  const open = useCallback(
    (file: File) => {
      if (!isPlanName(file.name)) {
        take((onProgress, signal) => takeFile(file, onProgress, signal), file.size)
      } else if (desktop === null) {
        fail(new SluiceError({ id: 'plan_not_here', name: file.name }))
      } else desktop.takeFile(file).catch(fail)
    },
    [take, fail, desktop],
  )
  const openAll = useCallback(
    (chosen: readonly Chosen[]) => {
      const [only] = chosen
      if (only === undefined) return
      if (chosen.length > 1) take((onProgress, signal) => takeAll(chosen, onProgress, signal), 0)
      else if (only instanceof File) open(only)
      else openFolder(only)
    },
    [take, open, openFolder],
  )
  const takeChosen = useCallback(
    (chosen: Promise<ChosenSource | null>) => {
      chosen.then((source) => {
        if (source !== null) openSource(source)
      }, fail)
    },
    [fail],
  )
  useEffect(() => {
    if (desktop === null) return
    const takeOpened = () =>
      void desktop.takeOpened().then((request) => {
        if (request?.kind === 'source') openSource(request.source)
        if (request?.kind === 'plan') setPlanId(request.planId)
        if (request?.kind === 'run') goTo({ kind: 'run', runId: request.runId })
      }, fail)
    desktop.onOpened(takeOpened)
    // Includes requests that waited for the page.
    takeOpened()
  }, [desktop, fail])
  const choose = useCallback(() => {
    if (desktop === null) picker.current?.click()
    else takeChosen(desktop.chooseSource())
  }, [desktop, takeChosen])
  const chooseFolder = useCallback(() => {
    if (desktop === null) folderPicker.current?.click()
    else takeChosen(desktop.chooseFolder())
  }, [desktop, takeChosen])
  return {
    upload,
    error,
    planId,
    closePlan,
    open,
    openAll,
    openFolder,
    choose,
    chooseFolder,
    picker,
    folderPicker,
  }
}

/** Opens files and folders dropped anywhere in the window; returns whether something is dragged over it. */
export function useFileDrop(on: { openAll: (chosen: readonly Chosen[]) => void }): boolean {
  const [isOver, setIsOver] = useState(false)
  const newest = useRef(on)
  newest.current = on
  // Before the first paint: a file dropped onto a page that does not listen would replace the page.
  useLayoutEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    window.addEventListener(
      'dragover',
      (event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setIsOver(true)
      },
      { signal },
    )
    window.addEventListener(
      'dragleave',
      (event) => {
        if (event.relatedTarget === null) setIsOver(false)
      },
      { signal },
    )
    window.addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event)) return
        // Without this the browser would leave the page and open the file.
        event.preventDefault()
        setIsOver(false)
        if (event.dataTransfer !== null) newest.current.openAll(listDropped(event.dataTransfer))
      },
      { signal },
    )
    return () => controller.abort()
  }, [])
  return isOver
}

/** The page's own hidden inputs for files and for a folder; buttons open them. */
export function FilePicker(props: {
  picker: RefObject<HTMLInputElement | null>
  folderPicker: RefObject<HTMLInputElement | null>
  onFiles: (files: readonly File[]) => void
  onFolder: (folder: BrowserFolder) => void
}) {
  return (
    <>
      <input
        ref={props.picker}
        type="file"
        accept={ACCEPTED_SOURCES}
        multiple
        hidden
        data-testid="file"
        onChange={(event) => {
          props.onFiles([...(event.currentTarget.files ?? [])])
          event.currentTarget.value = ''
        }}
      />
      <input
        ref={props.folderPicker}
        type="file"
        // React does not know this attribute; without it, the browser's dialog offers files.
        {...{ webkitdirectory: '' }}
        hidden
        data-testid="folder"
        onChange={(event) => {
          const folder = toBrowserFolder([...(event.currentTarget.files ?? [])])
          if (folder) props.onFolder(folder)
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}
