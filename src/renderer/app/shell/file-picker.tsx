import type { RefObject } from 'react'
import { type BrowserFolder, toBrowserFolder } from '../../bridge/take-folder.ts'

const ACCEPTED =
  '.csv,.tsv,.tab,.txt,.xlsx,.jsonl,.ndjson,.json,text/csv,text/tab-separated-values,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** The page's own inputs for a file and for a folder, out of sight; buttons open them. */
export function FilePicker(props: {
  picker: RefObject<HTMLInputElement | null>
  folderPicker: RefObject<HTMLInputElement | null>
  onFile: (file: File) => void
  onFolder: (folder: BrowserFolder) => void
}) {
  return (
    <>
      <input
        ref={props.picker}
        type="file"
        accept={ACCEPTED}
        hidden
        data-testid="file"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          if (file) props.onFile(file)
          event.currentTarget.value = ''
        }}
      />
      <input
        ref={props.folderPicker}
        type="file"
        // React knows no such attribute; without it the browser's dialog offers files.
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
