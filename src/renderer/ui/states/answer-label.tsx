import type { RowAnswer } from '../../../shared/run/item-state.ts'
import { ANSWER_LOOKS } from './answer-looks.ts'
import styles from './states.module.css'

/** What the service answered of a row, as an icon and a word in its colour. */
export function AnswerLabel({ answer }: { answer: RowAnswer }) {
  const { icon: Icon, word, meaning, color } = ANSWER_LOOKS[answer]
  return (
    <span className={styles.label} style={{ color }} title={meaning}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      {word}
    </span>
  )
}
