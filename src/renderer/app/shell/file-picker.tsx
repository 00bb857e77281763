import type { RefObject } from 'react'

const ACCEPTED = '.csv,.tsv,.tab,.txt,text/csv,text/tab-separated-values'

/** The page's own file input, out of sight; buttons open it. */
export function FilePicker(props: {
  picker: RefObject<HTMLInputElement | null>
  onFile: (file: File) => void
}) {
  return (
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
  )
}
