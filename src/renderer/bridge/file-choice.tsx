import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import type { ChosenSource } from '../../shared/bridge/source.ts'
import { ACCEPTED_SOURCES } from '../../shared/plan/source-formats.ts'
import { findDesktopApi } from './client.ts'
import { takeFile } from './take-files.ts'

/**
 * Lets a person choose a file for the engine to read, in the system's dialog on the desktop or by an upload
 * in a browser, and processes it. `input` must be rendered somewhere; it is invisible.
 */
export function useFileChoice(
  testId: string,
  onFile: (file: ChosenSource) => Promise<void> | void,
): {
  choose: () => void
  input: ReactNode
  /** Whether a file is being uploaded or processed. */
  isBusy: boolean
  error: unknown
  dismissError: () => void
} {
  const picker = useRef<HTMLInputElement>(null)
  const take = useMutation({
    mutationFn: async (file: File | null) => {
      const chosen =
        file === null
          ? ((await findDesktopApi()?.chooseFile()) ?? null)
          : await takeFile(file, () => {}, new AbortController().signal)
      if (chosen !== null) await onFile(chosen)
    },
  })
  return {
    choose: () => {
      if (findDesktopApi() === null) picker.current?.click()
      else take.mutate(null)
    },
    input: (
      <input
        ref={picker}
        type="file"
        accept={ACCEPTED_SOURCES}
        hidden
        data-testid={testId}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          if (file) take.mutate(file)
          event.currentTarget.value = ''
        }}
      />
    ),
    isBusy: take.isPending,
    error: take.error,
    dismissError: take.reset,
  }
}
