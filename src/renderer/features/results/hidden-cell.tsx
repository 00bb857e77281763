import { formatCount } from '../../ui/format-number.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

const WIDEST_CHARACTERS = 240

/** A cell of the source: a grey bar as long as its text until the person reveals the row. */
export function HiddenCell({ text, length, revealed }: { text: string; length: number; revealed: boolean }) {
  if (text === '') return null
  if (revealed) return <SafeText text={text} fullLength={length} />
  const percent = Math.max(4, Math.min(100, (length / WIDEST_CHARACTERS) * 100))
  return (
    <span className={styles.hidden}>
      <span className={styles.hiddenBar} style={{ width: `${percent}%` }} aria-hidden />
      <span className={styles.hiddenLength}>
        <span className="visually-hidden">hidden, </span>
        {formatCount(length)}
        <span className="visually-hidden"> characters</span>
      </span>
    </span>
  )
}
