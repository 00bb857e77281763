import { Radio } from '@mantine/core'
import type { OperationKind } from '../../../shared/operation.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { isOperationKind, OPERATION_KINDS, OPERATION_LOOKS } from '../../ui/operations/operation-looks.ts'
import styles from './operation.module.css'

/** Everything the service offers, a card each, one of them chosen. */
export function OperationCards(props: { chosen: OperationKind; onChoose: (kind: OperationKind) => void }) {
  return (
    <Panel title="What to do with each row">
      <Radio.Group
        aria-label="Operation"
        value={props.chosen}
        onChange={(value) => {
          if (isOperationKind(value)) props.onChoose(value)
        }}
      >
        <div className={styles.cards}>
          {OPERATION_KINDS.map((kind) => (
            <OperationCard key={kind} kind={kind} />
          ))}
        </div>
      </Radio.Group>
    </Panel>
  )
}

function OperationCard({ kind }: { kind: OperationKind }) {
  const { title, meaning, icon: Icon } = OPERATION_LOOKS[kind]
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
