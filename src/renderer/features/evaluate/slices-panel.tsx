import { MultiSelect } from '@mantine/core'
import type { Evaluation } from '../../../shared/lookback/evaluation.ts'
import { countSupport, FIGURES, toShareText } from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { IntervalBar } from '../../ui/charts/interval-bar.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'
import { findPicked, formatEstimate, type PickedRule } from './rule-panels.tsx'

/** Slices that are no columns of the source. */
const SPECIAL = [
  { value: 'language', label: 'language, as the answer says' },
  { value: 'model', label: 'model, as the answer says' },
  { value: 'variant', label: 'content variant, as it was sent' },
]

/** The picked rule, judged for each value of a column apart. */
export function SlicesPanel(props: {
  evaluation: Evaluation
  columns: readonly string[]
  chosen: readonly string[]
  onChoose: (slices: string[]) => void
  picked: PickedRule
}) {
  const { evaluation, columns, chosen, onChoose, picked } = props
  const names = [...new Set(columns)].filter(
    (name) => name !== '' && SPECIAL.every(({ value }) => value !== name),
  )
  return (
    <Panel title="Slices">
      <MultiSelect
        size="xs"
        className={styles.wide}
        label="Separate figures for each value of"
        placeholder={chosen.length === 0 ? 'a column, language, model or variant' : ''}
        searchable
        maxValues={5}
        data={[
          { group: 'Of the answers', items: SPECIAL },
          ...(names.length === 0 ? [] : [{ group: 'Columns of the source', items: names }]),
        ]}
        value={[...chosen]}
        onChange={onChoose}
        comboboxProps={{ withinPortal: true }}
      />
      {evaluation.slices.map((slice) => (
        <SliceTable key={slice.column} slice={slice} picked={picked} />
      ))}
    </Panel>
  )
}

function SliceTable({ slice, picked }: { slice: Evaluation['slices'][number]; picked: PickedRule }) {
  const { column, values, further_rows: further } = slice
  const [first] = values
  if (first === undefined) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={styles.slice} tabIndex={0} aria-label={`By ${column}`}>
      <table className={styles.table}>
        <caption>
          By <SafeText text={column} max={60} />: <SafeText text={findPicked(first, picked).name} max={60} />
        </caption>
        <thead>
          <tr>
            <th scope="col">
              <SafeText text={column} max={60} />
            </th>
            <th scope="col" className={styles.number}>
              Rows
            </th>
            <th scope="col" className={styles.number}>
              Should trigger
            </th>
            {FIGURES.map(({ name, label }) => (
              <th key={name} scope="col" className={styles.figure}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {values.map((value) => {
            const { judged } = findPicked(value, picked)
            return (
              <tr key={value.value}>
                <th scope="row">
                  {value.value === '' ? <em>empty</em> : <SafeText text={value.value} max={60} />}
                </th>
                <td className={styles.number}>{formatCount(value.rows)}</td>
                <td className={styles.number}>{formatEstimate(judged, countSupport(judged))}</td>
                {FIGURES.map(({ name, label }) => (
                  <td key={name} className={styles.figure}>
                    <span className={styles.small}>{toShareText(judged[name].value)}</span>
                    <IntervalBar name={label} metric={judged[name]} />
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
      {further > 0 && <p className={styles.quiet}>{formatCounted(further, 'row')} with further values.</p>}
    </section>
  )
}
