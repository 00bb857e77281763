import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import styles from './source.module.css'

/** What the preview holds: rows parsed, rows with something wrong in the record itself, and whether there are more. */
export function PreviewCounts({ preview }: { preview: BridgePreview }) {
  const { rows, malformedRows, hasMore } = preview
  const first = preview.problems[0]
  const what = preview.format === 'folder' ? 'folder' : preview.format === 'xlsx' ? 'sheet' : 'file'
  return (
    <p className={styles.counts} aria-live="polite">
      <span>
        <strong>{formatCount(rows.length)}</strong> {rows.length === 1 ? 'row' : 'rows'} parsed
        {hasMore ? `, the ${what} has more` : `, the whole ${what}`}
      </span>
      {malformedRows === 0 ? (
        <span className={styles.fine}>
          <IconCircleCheck size="1rem" aria-hidden /> none malformed
        </span>
      ) : (
        <span className={styles.bad}>
          <IconAlertTriangle size="1rem" aria-hidden />{' '}
          <strong>{formatCounted(malformedRows, 'row')} malformed</strong>
          {first !== undefined &&
            `, first: row ${formatCount(first.place?.row ?? first.row)}, ${first.message}`}
        </span>
      )}
    </p>
  )
}
