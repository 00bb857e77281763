import type { ContentRule } from '../../ui/content/content-rule.ts'
import { MaskedText } from '../../ui/content/masked-text.tsx'
import { LongText } from '../../ui/text/long-text.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { CELL_MAX_CHARACTERS } from '../../ui/text/visible-text.ts'
import styles from './results.module.css'

/** A row's own cells, whole, by column; of user content only the length until it is revealed. */
export function CellsTable(props: {
  columns: readonly string[]
  cells: readonly string[]
  isContent: ContentRule
  revealed: boolean
}) {
  return (
    <section>
      <h3>Cells</h3>
      <table className={styles.facts}>
        <tbody>
          {props.cells.map((cell, index) => {
            const name = props.columns[index] ?? `Column ${index + 1}`
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns may share a name and never move
              <tr key={index}>
                <th scope="row">
                  <SafeText text={name} max={60} />
                </th>
                <td>
                  <CellText
                    name={name}
                    cell={cell}
                    revealed={props.revealed || !props.isContent(index, cell)}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

function CellText({ name, cell, revealed }: { name: string; cell: string; revealed: boolean }) {
  if (cell === '') return <span className={styles.muted}>empty</span>
  if (!revealed) return <MaskedText text={cell} revealed={false} />
  if (cell.length > CELL_MAX_CHARACTERS * 4) return <LongText text={cell} label={name} />
  return <SafeText text={cell} max={CELL_MAX_CHARACTERS * 4} lines />
}
