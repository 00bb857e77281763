import { Button, Loader } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import type { ComparedDecisions, RunPair } from '../../../shared/bridge/compare.ts'
import type { ChangeFilter, ComparedGroup, Flips } from '../../../shared/lookback/comparison.ts'
import {
  describeChance,
  describeChange,
  describeRows,
  formatP,
} from '../../../shared/lookback/comparison-text.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { ask } from '../../bridge/client.ts'
import { isFieldContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ErrorNotice, Notice } from '../../ui/layout/notice.tsx'
import { Figures, Panel } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'
import { ScoresPanel } from './scores-panel.tsx'

/** What two runs decided differently: read once, since every row of both is read for it. */
export function useDecisions(pair: RunPair | null) {
  return useQuery(
    ask.compare.decisions.queryOptions({ input: pair ?? skipToken, staleTime: Number.POSITIVE_INFINITY }),
  )
}

/** What was decided differently: how many rows changed, by rule, by outcome and by score. */
export function DecisionsView(props: { pair: RunPair; onRows: (list: ChangeFilter) => void }) {
  const { pair, onRows } = props
  const { data: compared, error, isFetching, refetch } = useDecisions(pair)
  if (error !== null) return <ErrorNotice error={error} onRetry={refetch} />
  if (compared === undefined) return <Joining />
  const isRunning = [compared.a, compared.b].some(({ state }) => state === 'running')
  return (
    <div className={styles.stack}>
      {compared.warnings.map((warning) => (
        <Notice
          key={warning}
          kind="warning"
          title={<SafeText text={warning} max={500} lines />}
          {...(isRunning && {
            actions: (
              <Button variant="default" size="compact-xs" loading={isFetching} onClick={() => refetch()}>
                Compare again
              </Button>
            ),
          })}
        />
      ))}
      <ChangePanel compared={compared} onRows={onRows} />
      <div className={styles.columns}>
        <RulesPanel group={compared.joined} onRows={onRows} />
        <div className={styles.stack}>
          <MatchedPanel compared={compared} />
          <OutcomesPanel outcomes={compared.outcomes} onRows={onRows} />
        </div>
      </div>
      <ScoresPanel compared={compared} />
    </div>
  )
}

/** Stands while every row of both runs is read. */
export function Joining() {
  return (
    <p className={styles.joining} role="status">
      <Loader size="sm" /> Reading the rows of both runs
    </p>
  )
}

/** What changed in all, each figure leading to its rows. */
function ChangePanel({
  compared,
  onRows,
}: {
  compared: ComparedDecisions
  onRows: (list: ChangeFilter) => void
}) {
  const { joined, from_cache: cached, outcomes } = compared
  const ended = outcomes.listed.reduce((rows, one) => rows + one.rows, outcomes.further_rows)
  return (
    <Panel
      title={describeChange(compared)}
      aside={
        joined.changed > 0 && (
          <Button variant="default" size="compact-sm" onClick={() => onRows({ kind: 'changed' })}>
            View the changed rows
          </Button>
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
          { label: 'Other outcome', value: formatCount(ended) },
          ...(cached.rows === 0
            ? []
            : [
                {
                  label: 'Analysed before',
                  value: formatCount(cached.rows),
                  note: `marked from_cache; ${formatCount(cached.changed)} changed`,
                },
              ]),
        ]}
      />
    </Panel>
  )
}

/** How rows found their partners, and which did not. */
function MatchedPanel({ compared }: { compared: ComparedDecisions }) {
  const { compared: together, left } = describeRows(compared)
  const shown = useContentShown()
  return (
    <Panel title="How rows were matched">
      <p>
        <SafeText text={together} max={200} lines />
      </p>
      {left.length === 0 ? (
        <p className={styles.quiet}>Every row was matched.</p>
      ) : (
        <>
          <p className={styles.quiet}>Not compared:</p>
          <ul className={styles.left}>
            {left.map((phrase) => (
              <li key={phrase}>
                <SafeText text={phrase} max={200} lines />
              </li>
            ))}
          </ul>
        </>
      )}
      {compared.ambiguous_keys.length > 0 && (
        <p className={styles.quiet}>
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

/** Each rule: rows that newly trigger it, no longer do, or still do, and whether that may be chance. */
function RulesPanel(props: { group: ComparedGroup; onRows: (list: ChangeFilter) => void }) {
  const { group, onRows } = props
  const triggered = group.rules.filter(({ both, newly, no_longer }) => both + newly + no_longer > 0)
  return (
    <Panel title="Rules" aside={`${formatCounted(group.decided, 'row')} answered in both runs`} flush scrolls>
      {triggered.length === 0 ? (
        <p className={styles.none}>No row triggered a rule in either run.</p>
      ) : (
        <table className={styles.table}>
          <caption className="visually-hidden">Rows by rule</caption>
          <thead>
            <tr>
              <th scope="col">Rule</th>
              {['In A', 'In B', 'Newly', 'No longer', 'Still'].map((title) => (
                <th key={title} scope="col" className={styles.number}>
                  {title}
                </th>
              ))}
              <th
                scope="col"
                title="McNemar's exact test: probability that chance alone makes a change at least this uneven"
              >
                McNemar’s p
              </th>
            </tr>
          </thead>
          <tbody>
            {triggered.map((rule) => (
              <FlipsLine
                key={rule.rule_ids.join(' ')}
                name={rule.rule}
                flips={rule}
                onNewly={() => onRows({ kind: 'newly', rule: rule.rule })}
                onNoLonger={() => onRows({ kind: 'no-longer', rule: rule.rule })}
              />
            ))}
            {triggered.length > 1 && <FlipsLine name="Any rule" flips={group.overall} />}
          </tbody>
        </table>
      )}
      {triggered.length > 1 && <p className={styles.foot}>p is not adjusted for the number of rules.</p>}
    </Panel>
  )
}

function FlipsLine(props: { name: string; flips: Flips; onNewly?: () => void; onNoLonger?: () => void }) {
  const { name, flips } = props
  const { both, newly, no_longer: noLonger, p } = flips
  return (
    <tr>
      <th scope="row">
        <SafeText text={name} max={60} />
      </th>
      <td className={styles.number}>{formatCount(both + noLonger)}</td>
      <td className={styles.number}>{formatCount(both + newly)}</td>
      <td className={styles.number}>
        <RowsLink
          rows={newly}
          label={`${name}: rows that newly trigger it`}
          {...(props.onNewly && { onOpen: props.onNewly })}
        />
      </td>
      <td className={styles.number}>
        <RowsLink
          rows={noLonger}
          label={`${name}: rows that no longer trigger it`}
          {...(props.onNoLonger && { onOpen: props.onNoLonger })}
        />
      </td>
      <td className={styles.number}>{formatCount(both)}</td>
      <td className={styles.chance}>
        {formatP(p)} <span className={styles.quiet}>{describeChance(flips)}</span>
      </td>
    </tr>
  )
}

/** A count that leads to its rows. */
function RowsLink({ rows, label, onOpen }: { rows: number; label: string; onOpen?: () => void }) {
  if (rows === 0 || onOpen === undefined) return formatCount(rows)
  return (
    <button
      type="button"
      className={styles.link}
      onClick={onOpen}
      aria-label={`${label}: ${formatCount(rows)}`}
    >
      {formatCount(rows)}
    </button>
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
          <Button variant="default" size="compact-sm" onClick={() => props.onRows({ kind: 'outcome' })}>
            View these rows
          </Button>
        )
      }
      flush
      scrolls
    >
      {listed.length === 0 ? (
        <p className={styles.none}>Every row ended as before.</p>
      ) : (
        <table className={styles.table}>
          <caption className="visually-hidden">Rows that ended differently</caption>
          <thead>
            <tr>
              <th scope="col">In A</th>
              <th scope="col">In B</th>
              <th scope="col" className={styles.number}>
                Rows
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.map(({ a, b, rows }) => (
              <tr key={`${a} ${b}`}>
                <td>
                  <SafeText text={a} max={60} />
                </td>
                <td>
                  <SafeText text={b} max={60} />
                </td>
                <td className={styles.number}>{formatCount(rows)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {further > 0 && <p className={styles.foot}>{formatCounted(further, 'row')} with further outcomes</p>}
    </Panel>
  )
}
