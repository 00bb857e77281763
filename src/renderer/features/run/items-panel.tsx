import { Button } from '@mantine/core'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { Figures } from '../../ui/layout/figures.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './run.module.css'

/** How many items went into a custom index or out of it; of those added, the ids have to be kept. */
export function ItemsPanel(props: {
  kind: 'index-add' | 'index-remove'
  items: number
  onExport: () => void
}) {
  const { kind, items } = props
  return (
    <Panel title="Items">
      <Figures
        figures={[
          {
            label: kind === 'index-add' ? 'Added to the index' : 'Removed from the index',
            value: formatCount(items),
          },
        ]}
      />
      {kind === 'index-add' && items > 0 && (
        <div className={styles.keepIds}>
          <p className={styles.quietInside}>
            The service cannot list its items: this run is the only record of their ids. Its export is what
            removes them again.
          </p>
          <Button variant="default" onClick={props.onExport}>
            Export the ids
          </Button>
        </div>
      )}
    </Panel>
  )
}
