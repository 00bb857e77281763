import { IconTableImport } from '@tabler/icons-react'
import { PrimaryButton } from '../../ui/primary-button.tsx'
import styles from './source.module.css'

/** Shows that a spreadsheet can be dropped, which the whole window takes, or chosen. */
export function DropZone({ onChoose }: { onChoose: () => void }) {
  return (
    <div className={styles.drop}>
      <IconTableImport size="2.25rem" stroke={1.25} aria-hidden />
      <p className={styles.dropTitle}>Drop a spreadsheet</p>
      <PrimaryButton onPress={onChoose}>Choose a spreadsheet</PrimaryButton>
      <p className={styles.dropNote}>CSV or TSV, any size, any encoding. Nothing is sent yet.</p>
    </div>
  )
}
