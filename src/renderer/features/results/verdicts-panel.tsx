import { CloseButton, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { describeVerdict, type RowVerdict } from '../../../shared/lookback/verdict.ts'
import { ActionButton } from '../../ui/controls.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { VerdictLabel } from '../../ui/verdicts/verdict-mark.tsx'
import styles from './results.module.css'
import type { VerdictAction } from './verdicts-control.tsx'

const BUTTONS: readonly { action: VerdictAction; label: string; key: string }[] = [
  { action: 'agree', label: 'Agree', key: 'A' },
  { action: 'should', label: 'Should trigger…', key: 'S' },
  { action: 'should-not', label: 'Should not trigger…', key: 'D' },
  { action: 'unsure', label: 'Unsure', key: 'U' },
  { action: 'note', label: 'Note…', key: 'N' },
]

/** What a person says of the row that is open, and the buttons to say it; each has a key. */
export function VerdictsPanel(props: {
  /** Whether the service decided on the row; without a decision, only a note can be given. */
  decided: boolean
  verdicts: readonly RowVerdict[]
  act: (action: VerdictAction) => void
  onVerdicts: (verdicts: readonly RowVerdict[]) => void
  /** Takes the last verdict back; the table's own button may be under the drawer. */
  undo: ReactNode
}) {
  const { decided, verdicts, act, onVerdicts } = props
  const note = verdicts.find((one) => one.note !== null)?.note ?? null
  const isGiven = (action: VerdictAction) =>
    action === 'note' ? note !== null : verdicts.some(({ verdict }) => verdict === action)
  return (
    <section>
      <div className={`row justify-between mb-1 ${styles.partHead}`}>
        <h3>Your verdict</h3>
        {props.undo}
      </div>
      {!decided && (
        <p className="quiet">The service has not decided on this row: there is nothing to agree with.</p>
      )}
      <Group gap={6} mt={4}>
        {BUTTONS.filter(({ action }) => decided || action === 'note').map(({ action, label, key }) => (
          <ActionButton
            label={label}
            key={action}
            small
            aria-pressed={isGiven(action)}
            className={isGiven(action) ? styles.given : undefined}
            rightSection={<kbd>{key}</kbd>}
            onClick={() => act(action)}
          />
        ))}
      </Group>
      {verdicts.length > 0 && (
        <ul className={`flex flex-wrap mt-2 ${styles.verdicts}`} aria-label="Verdicts on this row">
          {verdicts.map((verdict) => (
            <li key={`${verdict.verdict} ${verdict.rule}`} className="inline-flex items-center max-w-full">
              <VerdictLabel verdict={verdict} />
              <CloseButton
                size="xs"
                aria-label={`Remove: ${describeVerdict(verdict)}`}
                title="Remove ( X removes all )"
                onClick={() => onVerdicts(verdicts.filter((one) => one !== verdict))}
              />
            </li>
          ))}
        </ul>
      )}
      {note !== null && (
        <p className={`mt-2 p-2-3 bg-sunken ${styles.note}`}>
          <SafeText text={note} max={10_000} lines />
        </p>
      )}
    </section>
  )
}
