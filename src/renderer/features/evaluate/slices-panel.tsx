import { MultiSelect } from '@mantine/core'
import type { Evaluation, Judged } from '../../../shared/lookback/evaluation.ts'
import { countSupport } from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { FACET_GROUPS } from '../../../shared/run/row-filters.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'
import { findPicked, formatEstimate, type PickedRule, toFigureColumns } from './rule-panels.tsx'

/** Slices that are no columns of the source. */
const SPECIAL = Object.entries(FACET_GROUPS).flatMap(([value, { slice: label }]) =>
  label === undefined ? [] : [{ value, label }],
)

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
        maw="36rem"
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
    <ScrollRegion className="mt-3" label={`By ${column}`}>
      <Table
        look="dense"
        className={styles.table}
        isCaptionShown
        caption={
          <>
            By <SafeText text={column} max={60} />:{' '}
            <SafeText text={findPicked(first, picked).name} max={60} />
          </>
        }
        rows={values.map((value) => ({ ...value, judged: findPicked(value, picked).judged }))}
        toKey={({ value }) => value}
        columns={[
          {
            title: <SafeText text={column} max={60} />,
            cell: ({ value }) => (value === '' ? <em>empty</em> : <SafeText text={value} max={60} />),
          },
          { title: 'Rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
          {
            title: 'Should trigger',
            isNumber: true,
            cell: ({ judged }) => formatEstimate(judged, countSupport(judged)),
          },
          ...toFigureColumns(({ judged }: { judged: Judged }) => judged),
        ]}
      />
      {further > 0 && <p className="small">{formatCounted(further, 'row')} with further values.</p>}
    </ScrollRegion>
  )
}
