import type { RowState } from '../../../shared/run/results.ts'
import { STATE_LOOKS } from './state-looks.ts'
import styles from './states.module.css'

/** A state as an icon and a word in its colour; the word can be left to the reader's voice alone in tight places. */
export function StateLabel({ state, iconOnly = false }: { state: RowState; iconOnly?: boolean }) {
  const look = STATE_LOOKS[state]
  const Icon = look.icon
  return (
    <span className={styles.label} style={{ color: look.color }} title={look.meaning}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      <span className={iconOnly ? 'visually-hidden' : undefined}>{look.word}</span>
    </span>
  )
}
