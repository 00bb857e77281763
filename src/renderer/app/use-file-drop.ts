import { useEffect, useRef, useState } from 'react'

/** Takes a file dropped anywhere in the window; says whether one is held over it. */
export function useFileDrop(onFile: (file: File) => void): boolean {
  const [isOver, setIsOver] = useState(false)
  const newest = useRef(onFile)
  newest.current = onFile
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
        if (file) newest.current(file)
      },
      { signal },
    )
    return () => controller.abort()
  }, [])
  return isOver
}
