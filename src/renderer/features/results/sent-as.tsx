import type { Correction } from '../../../shared/plan/fixes.ts'
import { isFieldContent, MaskedText } from '../../ui/content/user-content.tsx'
import { Table } from '../../ui/table/table.tsx'
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
      <Table
        look="plain"
        className={styles.facts}
        rows={corrections}
        toKey={({ field }) => field}
        columns={[
          { title: 'Field', cell: ({ field }) => <SafeText text={field} max={60} /> },
          {
            title: 'In the source',
            cell: ({ field, before }) => <FieldText field={field} text={before} revealed={revealed} />,
          },
          {
            title: 'Sent as',
            cell: ({ field, sent }) => <FieldText field={field} text={sent} revealed={revealed} />,
          },
        ]}
      />
    </section>
  )
}

function FieldText({ field, text, revealed }: { field: string; text: string; revealed: boolean }) {
  if (text === '') return <span className="quiet">nothing</span>
  if (isFieldContent(field, text)) return <MaskedText text={text} max={TEXT_MAX} revealed={revealed} />
  return <SafeText text={text} max={TEXT_MAX} lines />
}
