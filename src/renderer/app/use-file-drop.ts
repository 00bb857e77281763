import { useEffect, useRef, useState } from 'react'
import { findDesktopApi } from '../bridge/desktop.ts'
import { type BrowserFolder, readDroppedFolder } from '../bridge/take-folder.ts'

/** Takes a file or a folder dropped anywhere in the window; says whether one is held over it. */
export function useFileDrop(on: {
  open: (file: File) => void
  openFolder: (folder: Promise<BrowserFolder>) => void
}): boolean {
  const [isOver, setIsOver] = useState(false)
  const newest = useRef(on)
  newest.current = on
  useEffect(() => {
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
        const file = event.dataTransfer?.files[0]
        const folder = findDroppedFolder(event.dataTransfer)
        // The desktop reads a folder in place, by the path of what was dropped.
        if (folder !== null && findDesktopApi() === null) newest.current.openFolder(readDroppedFolder(folder))
        else if (file) newest.current.open(file)
      },
      { signal },
    )
    return () => controller.abort()
  }, [])
  return isOver
}

function findDroppedFolder(dropped: DataTransfer | null): FileSystemDirectoryEntry | null {
  const entry = dropped?.items[0]?.webkitGetAsEntry() ?? null
  return entry !== null && isDirectory(entry) ? entry : null
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
