import { Radio } from '@mantine/core'
import { Panel } from '../../ui/layout/panel.tsx'
import {
  type Activity,
  isOperationKind,
  OPERATION_KINDS,
  toLook,
} from '../../ui/operations/operation-looks.ts'
import styles from './operation.module.css'

/** Everything the service offers and a test of its load, a card each, one of them chosen. */
export function OperationCards(props: { chosen: Activity; onChoose: (activity: Activity) => void }) {
  return (
    <Panel title="What to do with each row">
      <Radio.Group
        aria-label="Operation"
        value={props.chosen}
        onChange={(value) => {
          if (value === 'load' || isOperationKind(value)) props.onChoose(value)
        }}
      >
        <div className={styles.cards}>
          {OPERATION_KINDS.map((kind) => (
            <OperationCard key={kind} kind={kind} />
          ))}
          <OperationCard kind="load" />
        </div>
      </Radio.Group>
    </Panel>
  )
}

function OperationCard({ kind }: { kind: Activity }) {
  const { title, meaning, icon: Icon } = toLook(kind)
  return (
    <Radio.Card value={kind} className={styles.card} aria-label={title} aria-description={meaning}>
      <span className={styles.cardHead}>
        <Icon size="1.25rem" stroke={1.5} aria-hidden />
        <span className={styles.cardTitle}>{title}</span>
        <Radio.Indicator size="xs" />
      </span>
      <span className={styles.cardText}>{meaning}</span>
    </Radio.Card>
  )
}
