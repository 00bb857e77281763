import { Button } from '@mantine/core'
import type { Load } from '../../../shared/load/load.ts'
import type { Operation } from '../../../shared/plan/operation.ts'
import { ConnectionChip } from '../connection/connection-chip.tsx'
import type { NamedPlace } from '../connection/destination.ts'
import { SafeText } from '../text/safe-text.tsx'
import { describeLoadTest, describeOptions, toLook } from './operation-looks.ts'
import styles from './operations.module.css'

/** What the rows being prepared are for and where they go, in a line, with the way to change it. */
export function OperationStrip(props: {
  operation: Operation
  /** What the load test is, null while it is incomplete; absent where there is none. */
  load?: Load | null
  destination: NamedPlace
  /** What the operation still lacks, or null. */
  gap: string | null
  onChange: () => void
}) {
  const { operation, load } = props
  const { title, icon: Icon } = toLook(load === undefined ? operation.kind : 'load')
  const words = load === undefined ? describeOptions(operation) : describeLoadTest(operation, load)
  return (
    <div className={styles.strip}>
      <Icon size="1.1rem" stroke={1.5} aria-hidden />
      <p className={styles.words}>
        <strong>{title}</strong> <SafeText text={words} max={120} /> to{' '}
        <ConnectionChip place={props.destination} />
        {props.gap !== null && <span className={styles.gap}>{props.gap}</span>}
      </p>
      <Button variant="default" size="compact-xs" onClick={props.onChange}>
        Change
      </Button>
    </div>
  )
}
