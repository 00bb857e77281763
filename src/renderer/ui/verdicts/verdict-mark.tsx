import {
  IconCheck,
  IconHelpCircle,
  IconMinus,
  IconNote,
  IconPlus,
  type TablerIcon,
} from '@tabler/icons-react'
import { describeVerdict, type RowVerdict, VERDICT_WORDS } from '../../../shared/lookback/verdict.ts'
import { SafeText } from '../text/safe-text.tsx'
import styles from './verdicts.module.css'

/** How a verdict is shown wherever it is shown: an icon of its own shape, a colour, and its words. */
const LOOKS: Record<RowVerdict['verdict'], { icon: TablerIcon; color: string }> = {
  agree: { icon: IconCheck, color: 'var(--state-succeeded)' },
  should: { icon: IconPlus, color: 'var(--state-rejected)' },
  'should-not': { icon: IconMinus, color: 'var(--state-failed)' },
  unsure: { icon: IconHelpCircle, color: 'var(--state-unknown)' },
}

/** What a person said of a row, each verdict with its rule, and whether there is a note. */
export function VerdictMark({ verdicts }: { verdicts: readonly RowVerdict[] }) {
  const note = verdicts.find((one) => one.note !== null)?.note ?? null
  return (
    <>
      {verdicts.map((verdict) => (
        <VerdictLabel key={`${verdict.verdict} ${verdict.rule}`} verdict={verdict} />
      ))}
      {note !== null && (
        <span className={styles.noted}>
          <IconNote size="1.05em" aria-hidden />
          note
        </span>
      )}
    </>
  )
}

export function VerdictLabel({
  verdict: { verdict, rule },
}: {
  verdict: Pick<RowVerdict, 'verdict' | 'rule'>
}) {
  const { icon: Icon, color } = LOOKS[verdict]
  return (
    <span className={styles.mark} style={{ color }} title={describeVerdict({ verdict, rule })}>
      <Icon size="1.05em" stroke={2.25} aria-hidden />
      <span className="truncate">
        {VERDICT_WORDS[verdict]}
        {rule !== null && (
          <>
            {' '}
            <SafeText text={rule} max={60} />
          </>
        )}
      </span>
    </span>
  )
}
