import type { Correction } from '../../../shared/plan/fixes.ts'
import { isFieldContent, MaskedText } from '../../ui/content/user-content.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'

/** Longest part of a text that is shown, in characters. */
const TEXT_MAX = 2_000

/** The fields of a row that were sent otherwise than its cells have them. */
export function SentAs({ corrections, revealed }: { corrections: readonly Correction[]; revealed: boolean }) {
  if (corrections.length === 0) return null
  return (
    <section>
      <h3>Corrected</h3>
      <table className={styles.facts}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">In the source</th>
            <th scope="col">Sent as</th>
          </tr>
        </thead>
        <tbody>
          {corrections.map(({ field, before, sent }) => (
            <tr key={field}>
              <th scope="row">
                <SafeText text={field} max={60} />
              </th>
              <td>
                <FieldText field={field} text={before} revealed={revealed} />
              </td>
              <td>
                <FieldText field={field} text={sent} revealed={revealed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function FieldText({ field, text, revealed }: { field: string; text: string; revealed: boolean }) {
  if (text === '') return <span className={styles.muted}>nothing</span>
  if (isFieldContent(field, text)) return <MaskedText text={text} max={TEXT_MAX} revealed={revealed} />
  return <SafeText text={text} max={TEXT_MAX} lines />
}
