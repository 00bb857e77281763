import { Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Exported } from '../../shared/bridge/results.ts'
import { formatBytes } from '../../shared/messages/figure-text.ts'
import { sayGuarded, UNGUARDED_FORMATS } from '../../shared/run/formula-guard.ts'
import { listMissing } from '../../shared/run/written-rows.ts'
import { ActionButton, CopyButton } from './controls.tsx'
import { ErrorNotice, Notice } from './layout/screen.tsx'
import { showErrorToast, showToast } from './layout/toasts.tsx'
import { SafeText } from './text/safe-text.tsx'

interface WrittenFiles {
  files: readonly Exported[]
  /** Shows the first file in the system's file manager; null in a browser, which lists downloads. */
  showInFolder: (() => void) | null
}

interface FileToWrite {
  /** Writes it; null if the person cancelled. */
  write: () => Promise<WrittenFiles | null>
  /** Words about the result, such as `372 rows written`; called after everything is written. */
  describe?: (first: Exported) => string
  /** How to get cells unchanged that were guarded as formulas (default: in another format). */
  unchanged?: string
}

/** Writes files one at a time, and says where the last one is. */
export interface FileWriter {
  write: (file: FileToWrite) => void
  isWriting: boolean
  notice: ReactNode
}

/**
 * Writes files and says where each is: in `notice`, or in a toast if the screen was left meanwhile.
 * Cancelling the dialog says nothing.
 */
export function useFileWriter(): FileWriter {
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  const writing = useMutation({
    mutationFn: ({ write }: FileToWrite) => write(),
    onSuccess: (saved, file) => {
      if (isShown.current || saved === null) return
      const { kind, title, text } = describeSaved(saved, file)
      showToast({ key: `file ${title}`, kind, title, text })
    },
    onError: (error) => {
      if (!isShown.current) showErrorToast('file', error)
    },
  })
  return { write: writing.mutate, isWriting: writing.isPending, notice: toNotice(writing) }
}

function toNotice(writing: {
  error: unknown
  data: WrittenFiles | null | undefined
  variables: FileToWrite | undefined
  reset: () => void
}): ReactNode {
  const { error, data, variables, reset } = writing
  if (error !== null) return <ErrorNotice error={error} onDismiss={reset} />
  if (data === null || data === undefined) return null
  const { kind, title, text } = describeSaved(data, variables)
  return (
    <Notice kind={kind} title={title} actions={<ActionButton label="Dismiss" small onClick={reset} />}>
      {text}
    </Notice>
  )
}

/** Where the files are, with the window's ways to open them. */
function describeSaved(
  { files, showInFolder }: WrittenFiles,
  { describe, unchanged }: Partial<FileToWrite> = {},
) {
  const [first] = files
  const guarded = files.reduce((sum, { guardedCells = 0 }) => sum + guardedCells, 0)
  const size = formatBytes(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
  const said = first === undefined ? undefined : describe?.(first)
  const paths = files.flatMap((one) => (one.kind === 'file' ? [one.file] : []))
  const text = (
    <>
      {files.map((one, at) => {
        const place = one.kind === 'file' ? one.file : `${one.name}, in your downloads`
        return (
          <div key={place}>
            <SafeText text={place} max={300} lines />
            {listMissing({ ...one, ...(at > 0 && { withoutResult: 0 }) }).map((missing) => (
              <div key={missing}>{missing}.</div>
            ))}
          </div>
        )
      })}
      {guarded > 0 && <div>{sayGuarded(guarded, unchanged ?? UNGUARDED_FORMATS)}.</div>}
      {paths.length > 0 && (
        <Group gap="xs" mt={4}>
          {showInFolder !== null && <ActionButton label="Show in folder" small onClick={showInFolder} />}
          <CopyButton label={paths.length === 1 ? 'Copy path' : 'Copy paths'} text={() => paths.join('\n')} />
        </Group>
      )}
    </>
  )
  const kind = files.some(({ damaged }) => damaged !== undefined) ? ('warning' as const) : ('good' as const)
  return { kind, title: `${said ?? 'Written'}, ${size}`, text }
}
