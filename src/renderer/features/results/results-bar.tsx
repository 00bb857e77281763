import { Button, Switch } from '@mantine/core'
import { formatQuantity } from '../../ui/format-number.ts'
import styles from './results.module.css'

/** The line over the table: how many rows it has, its keys, and whether content is shown. */
export function ResultsBar(props: {
  /** Null while they are being counted. */
  count: number | null
  narrowed: boolean
  showsContent: boolean
  onShowAllRows: () => void
  onShowContent: (shown: boolean) => void
}) {
  const { count, narrowed } = props
  return (
    <div className={styles.bar}>
      <p className={styles.barText} aria-live="polite">
        <strong>{count === null ? 'Counting rows' : formatQuantity(count, 'row')}</strong>
        {narrowed ? ' match' : ''} · <kbd>J</kbd> <kbd>K</kbd> move · <kbd>Space</kbd> reveal ·{' '}
        <kbd>Enter</kbd> open
      </p>
      {narrowed && (
        <Button variant="default" size="compact-xs" onClick={props.onShowAllRows}>
          Show all rows
        </Button>
      )}
      <Switch
        label="Show content"
        checked={props.showsContent}
        onChange={(event) => props.onShowContent(event.currentTarget.checked)}
      />
    </div>
  )
}
