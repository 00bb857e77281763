import { Button } from '@mantine/core'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ContentSwitch } from '../../ui/content/masked-text.tsx'
import styles from './results.module.css'

/** The line over the table: how many rows it has, its keys, and whether content is shown. */
export function ResultsBar(props: {
  count: number
  /** Whether there are so many rows, at least so many, or nothing is known yet. */
  counted: 'no' | 'at-least' | 'exactly'
  narrowed: boolean
  onShowAllRows: () => void
}) {
  const { count, counted, narrowed } = props
  return (
    <div className={styles.bar}>
      <p className={styles.barText} aria-live="polite">
        <strong>{toCountText(count, counted)}</strong>
        {narrowed ? (count === 1 ? ' matches' : ' match') : ''} · <kbd>J</kbd> <kbd>K</kbd> move ·{' '}
        <kbd>Space</kbd> reveal · <kbd>Enter</kbd> open
      </p>
      {narrowed && (
        <Button variant="default" size="compact-xs" onClick={props.onShowAllRows}>
          Show all rows
        </Button>
      )}
      <ContentSwitch />
    </div>
  )
}

function toCountText(count: number, counted: 'no' | 'at-least' | 'exactly'): string {
  if (counted === 'no') return 'Counting rows'
  return counted === 'exactly' ? formatCounted(count, 'row') : `At least ${formatCounted(count, 'row')}`
}
