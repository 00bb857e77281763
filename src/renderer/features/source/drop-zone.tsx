import { Button } from '@mantine/core'
import { IconTableImport } from '@tabler/icons-react'
import { PrimaryButton } from '../../ui/primary-button.tsx'
import styles from './source.module.css'

/** Shows that a file or a folder can be dropped, which the whole window takes, or chosen. */
export function DropZone(props: { onChoose: () => void; onChooseFolder: () => void }) {
  return (
    <div className={styles.drop}>
      <IconTableImport size="2.25rem" stroke={1.25} aria-hidden />
      <p className={styles.dropTitle}>Drop a spreadsheet or a folder</p>
      <div className={styles.dropActions}>
        <Button variant="default" onClick={props.onChooseFolder}>
          Choose a folder
        </Button>
        <PrimaryButton onPress={props.onChoose}>Choose a spreadsheet</PrimaryButton>
      </div>
      <p className={styles.dropNote}>
        CSV, TSV, Excel (.xlsx) or JSON lines, any size, any encoding; or a folder of texts, JSON and media.
        Nothing is sent yet.
      </p>
    </div>
  )
}
