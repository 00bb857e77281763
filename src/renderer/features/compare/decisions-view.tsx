import { Group, Loader } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import type { ComparedDecisions, RunPair } from '../../../shared/bridge/compare.ts'
import type { ChangeFilter, ComparedGroup, ScoreMoves } from '../../../shared/lookback/comparison.ts'
import {
  countOtherOutcomes,
  countOtherRules,
  describeChance,
  describeChange,
  describeNoMoves,
  describeRows,
  formatP,
  formatScoreMove,
} from '../../../shared/lookback/comparison-text.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { toOutcomesTable } from '../../../shared/report/decisions-report.ts'
import { ask } from '../../bridge/client.ts'
import { isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ErrorNotice, Figures, Notice, Panel } from '../../ui/layout/screen.tsx'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { ReportTable } from '../../ui/table/report-table.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { MessageText, SafeText, TextList } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'

/** What two runs decided differently; cached, since this reads every row of both. */
export function useDecisions(pair: RunPair | null) {
  return useQuery(
    ask.compare.decisions.queryOptions({ input: pair ?? skipToken, staleTime: Number.POSITIVE_INFINITY }),
  )
}

/** Different decisions: how many rows changed, by rule, by outcome and by score. */
export function DecisionsView(props: { pair: RunPair; onRows: (list: ChangeFilter) => void }) {
  const { pair, onRows } = props
  const { data: compared, error, isFetching, refetch } = useDecisions(pair)
  if (error !== null) return <ErrorNotice error={error} onRetry={refetch} />
  if (compared === undefined) return <Joining />
  const isRunning = [compared.a, compared.b].some(({ state }) => state === 'running')
  return (
    <div className="grid one-column gap-4">
      {compared.warnings.map((warning) => (
        <Notice
          key={warning}
          kind="warning"
          title={<MessageText text={warning} max={500} />}
          {...(isRunning && {
            actions: (
              <ActionButton label="Compare again" small loading={isFetching} onClick={() => refetch()} />
            ),
          })}
        />
      ))}
      <ChangePanel compared={compared} onRows={onRows} />
      <div className={styles.columns}>
        <RulesPanel group={compared.joined} onRows={onRows} />
        <div className="grid one-column gap-4">
          <MatchedPanel compared={compared} />
          <OutcomesPanel outcomes={compared.outcomes} onRows={onRows} />
        </div>
      </div>
      <ScoresPanel compared={compared} />
    </div>
  )
}

/** Shown while every row of both runs is read. */
export function Joining() {
  return (
    <Group component="p" gap="sm" justify="center" wrap="nowrap" p="lg" c="dimmed" role="status">
      <Loader size="sm" /> Reading the rows of both runs
    </Group>
  )
}

/** The total changes, each figure with a link to its rows. */
function ChangePanel(props: { compared: ComparedDecisions; onRows: (list: ChangeFilter) => void }) {
  const { compared, onRows } = props
  const { joined, from_cache: cached, outcomes } = compared
  const otherRules = countOtherRules(compared)
  return (
    <Panel
      title={describeChange(compared)}
      aside={
        joined.changed > 0 && (
          <ActionButton label="View the changed rows" small onClick={() => onRows({ kind: 'changed' })} />
        )
      }
    >
      <Figures
        figures={[
          { label: 'Compared', value: formatCount(joined.rows), unit: 'rows' },
          {
            label: 'Changed',
            value: formatCount(joined.changed),
            note: joined.share === null ? 'nothing to compare' : formatShare(joined.share),
          },
          { label: 'Unchanged', value: formatCount(joined.rows - joined.changed) },
          { label: 'Newly trigger a rule', value: formatCount(joined.overall.newly) },
          { label: 'No longer trigger a rule', value: formatCount(joined.overall.no_longer) },
          otherRules > 0 && {
            label: 'Trigger other rules',
            value: formatCount(otherRules),
            note: 'a rule in both runs',
          },
          { label: 'Other outcome', value: formatCount(countOtherOutcomes(outcomes)) },
          cached.rows > 0 && {
            label: 'Analysed before',
            value: formatCount(cached.rows),
            note: `marked from_cache; ${formatCount(cached.changed)} changed`,
          },
        ]}
      />
    </Panel>
  )
}

/** How rows were paired, and which were not. */
function MatchedPanel({ compared }: { compared: ComparedDecisions }) {
  const { compared: together, left } = describeRows(compared)
  const shown = useContentShown()
  return (
    <Panel title="How rows were matched">
      <p>
        <SafeText text={together} max={200} lines />
      </p>
      {left.length === 0 ? (
        <p className="quiet">Every row was matched.</p>
      ) : (
        <>
          <p className="quiet">Not compared:</p>
          <TextList texts={left} max={200} className="grid gap-1 mt-1 pl-4 disc" />
        </>
      )}
      {compared.ambiguous_keys.length > 0 && (
        <p className="quiet">
          Repeated, such as{' '}
          {compared.ambiguous_keys.map((key) => (
            <span key={key} className={styles.key}>
              <MaskedText text={key} revealed={shown || !isFieldContent(undefined, key)} max={60} />
            </span>
          ))}
        </p>
      )}
    </Panel>
  )
}

/** Each rule: rows that newly trigger it, no longer do, or still do, and whether chance may explain it. */
function RulesPanel(props: { group: ComparedGroup; onRows: (list: ChangeFilter) => void }) {
  const { group, onRows } = props
  const triggered = group.rules.filter(({ both, newly, no_longer }) => both + newly + no_longer > 0)
  /** The number of such rows, as a button that lists them. */
  const toLink = (
    { rule, isOpened }: { rule: string; isOpened: boolean },
    kind: 'newly' | 'no-longer',
    rows: number,
    does: string,
  ) => {
    if (rows === 0 || !isOpened) return formatCount(rows)
    return (
      <button
        type="button"
        className="link bold"
        onClick={() => onRows({ kind, rule })}
        aria-label={`${rule}: rows that ${does}: ${formatCount(rows)}`}
      >
        {formatCount(rows)}
      </button>
    )
  }
  return (
    <Panel title="Rules" aside={`${formatCounted(group.decided, 'row')} answered in both runs`} flush scrolls>
      <Table
        className={styles.table}
        caption="Rows by rule"
        empty="No row triggered a rule in either run."
        rows={[
          ...triggered.map((rule) => ({ ...rule, isOpened: true })),
          ...(triggered.length > 1 ? [{ rule: 'Any rule', ...group.overall, isOpened: false }] : []),
        ]}
        columns={[
          { title: 'Rule', cell: ({ rule }) => <SafeText text={rule} max={60} /> },
          { title: 'In A', isNumber: true, cell: (flips) => formatCount(flips.both + flips.no_longer) },
          { title: 'In B', isNumber: true, cell: (flips) => formatCount(flips.both + flips.newly) },
          {
            title: 'Newly',
            isNumber: true,
            cell: (flips) => toLink(flips, 'newly', flips.newly, 'newly trigger it'),
          },
          {
            title: 'No longer',
            isNumber: true,
            cell: (flips) => toLink(flips, 'no-longer', flips.no_longer, 'no longer trigger it'),
          },
          { title: 'Still', isNumber: true, cell: ({ both }) => formatCount(both) },
          {
            title: 'McNemar’s p',
            hint: "McNemar's exact test: probability that chance alone makes a change at least this uneven",
            className: 'nowrap',
            cell: (flips) => (
              <>
                {formatP(flips.p)} <span className="quiet">{describeChance(flips)}</span>
              </>
            ),
          },
        ]}
      />
      {triggered.length > 1 && (
        <p className="small p-3-4 border-t">p is not adjusted for the number of rules.</p>
      )}
    </Panel>
  )
}

/** Rows that ended differently, such as with another error. */
function OutcomesPanel(props: {
  outcomes: ComparedDecisions['outcomes']
  onRows: (list: ChangeFilter) => void
}) {
  const { listed, further_rows: further } = props.outcomes
  return (
    <Panel
      title="Other outcome"
      aside={
        listed.length > 0 && (
          <ActionButton label="View these rows" small onClick={() => props.onRows({ kind: 'outcome' })} />
        )
      }
      flush
      scrolls
    >
      <ReportTable
        className={styles.table}
        caption="Rows that ended differently"
        empty="Every row ended as before."
        table={toOutcomesTable(listed)}
      />
      {further > 0 && (
        <p className="small p-3-4 border-t">{formatCounted(further, 'row')} with further outcomes</p>
      )}
    </Panel>
  )
}

/** How the scores of each class moved, with a small drawing. */
function ScoresPanel({ compared }: { compared: ComparedDecisions }) {
  const { scores, scored_rows: scoredRows } = compared
  return (
    <Panel title="Scores that moved" flush scrolls>
      <Table
        className={styles.table}
        caption="Scores that moved, by class"
        empty={describeNoMoves(scoredRows)}
        rows={scores}
        columns={COLUMNS}
      />
    </Panel>
  )
}

const COLUMNS: readonly Column<ScoreMoves>[] = [
  {
    title: 'Class',
    cell: (one) => (
      <>
        <SafeText text={one.class} max={60} />
        {one.from_cache && <span className="quiet"> analysed before</span>}
      </>
    ),
  },
  { title: 'Rose', isNumber: true, cell: (one) => formatCounted(one.rose, 'row') },
  { title: 'Fell', isNumber: true, cell: (one) => formatCounted(one.fell, 'row') },
  {
    title: 'Rows by move, B − A',
    cell: (one) => <MovesDrawing name={one.class} distribution={one.distribution} />,
  },
  { title: 'Mean move', isNumber: true, cell: (one) => formatScoreMove(one.mean) },
  { title: 'Largest rise', isNumber: true, cell: (one) => <LargestMove move={one.largest_rise} /> },
  { title: 'Largest fall', isNumber: true, cell: (one) => <LargestMove move={one.largest_fall} /> },
]

function LargestMove({ move }: { move: ScoreMoves['largest_rise'] }) {
  if (move === null) return '–'
  return (
    <>
      {formatScoreMove(move.b - move.a)}{' '}
      <span className="quiet">
        {move.a} → {move.b}, row <RowNumber record={move.record} place={move.place} />
      </span>
    </>
  )
}

const DRAWING = { width: 240, height: 40, base: 30 }

/** Bars of the number of rows by distance moved: falls left of the middle, rises right of it. */
function MovesDrawing({ name, distribution }: { name: string; distribution: ScoreMoves['distribution'] }) {
  const { width, moves } = distribution
  const furthest = Math.max(width, ...moves.map(({ move }) => Math.abs(move)))
  const most = Math.max(...moves.map(({ rows }) => rows))
  const step = DRAWING.width / (2 * Math.round(furthest / width) + 1)
  const middle = DRAWING.width / 2
  return (
    <svg
      className={styles.moves}
      width={DRAWING.width}
      height={DRAWING.height}
      role="img"
      aria-label={`Moves of ${name}: ${moves.map(({ move, rows }) => `${formatScoreMove(move)} ${formatCounted(rows, 'row')}`).join(', ')}`}
    >
      <line stroke="var(--line-strong)" x1={middle} x2={middle} y1="0" y2={DRAWING.base} />
      {moves.map(({ move, rows }) => {
        // Even a small count gets a visible bar.
        const height = Math.max(1.5, (rows / most) * (DRAWING.base - 2))
        return (
          <rect
            key={move}
            data-rise={move > 0}
            x={middle + (move / width) * step - step / 2 + 0.5}
            y={DRAWING.base - height}
            width={Math.max(1, step - 1)}
            height={height}
          >
            <title>{`${formatScoreMove(move)}: ${formatCounted(rows, 'row')}`}</title>
          </rect>
        )
      })}
      <text x="0" y={DRAWING.height - 1}>
        {formatScoreMove(-furthest)}
      </text>
      <text x={middle} y={DRAWING.height - 1} textAnchor="middle">
        0
      </text>
      <text x={DRAWING.width} y={DRAWING.height - 1} textAnchor="end">
        {formatScoreMove(furthest)}
      </text>
    </svg>
  )
}
