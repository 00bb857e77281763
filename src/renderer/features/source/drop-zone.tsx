import { Button } from '@mantine/core'
import { IconTableImport } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import styles from './source.module.css'

const ACCEPTED = '.csv,.tsv,.tab,.txt,text/csv,text/tab-separated-values'

/** Where a spreadsheet is dropped or chosen. The whole window takes drops too; this shows where. */
export function DropZone(props: {
  onFile: (file: File) => void
  /** Opens the system's own dialog instead of the page's, where there is one. */
  onChoose?: () => void
}) {
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is the pointer's way; the button is the keyboard's
    <div
      className={styles.drop}
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={() => setOver(false)}
    >
      <IconTableImport size="2.25rem" stroke={1.25} aria-hidden />
      <p className={styles.dropTitle}>Drop a spreadsheet here</p>
      <Button variant="default" onClick={() => (props.onChoose ? props.onChoose() : input.current?.click())}>
        Choose a file
      </Button>
      <input
        ref={input}
        type="file"
        accept={ACCEPTED}
        className="visually-hidden"
        tabIndex={-1}
        aria-label="Spreadsheet"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0]
          if (file) props.onFile(file)
          event.currentTarget.value = ''
        }}
      />
      <p className={styles.dropNote}>CSV or TSV, any size, any encoding. Nothing is sent yet.</p>
    </div>
  )
}
