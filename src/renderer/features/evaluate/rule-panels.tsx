import type { Cell, Evaluation, Judged, JudgedRule } from '../../../shared/lookback/evaluation.ts'
import {
  AVERAGES,
  CELL_WORDS,
  countSupport,
  FIGURES,
  formatInterval,
  OVERALL_NAME,
  toShareText,
} from '../../../shared/lookback/evaluation-view.ts'
import { formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { IntervalBar } from '../../ui/charts/interval-bar.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'
import matrixStyles from './matrix.module.css'

/** The rule that is looked at closely, by name; null for any of the rules. */
export type PickedRule = string | null

/** The rule that is looked at: with one rule alone, that rule. */
export function findPicked(
  { overall, rules }: Pick<Evaluation, 'overall' | 'rules'>,
  picked: PickedRule,
): { name: string; rule: string | null; judged: Judged } {
  const [only] = rules
  const found: JudgedRule | undefined = rules.length === 1 ? only : rules.find(({ rule }) => rule === picked)
  return found === undefined
    ? { name: OVERALL_NAME, rule: null, judged: overall }
    : { name: found.rule, rule: found.rule, judged: found }
}

/** Every rule in a line, and one of them closely: its matrix, whose cells open their rows, and its figures drawn. */
export function RulePanels(props: {
  evaluation: Evaluation
  picked: PickedRule
  onPick: (rule: PickedRule) => void
  /** Opens the rows of a cell; a rule of null is any of the rules. */
  onCell: (cell: Cell, rule: string | null) => void
}) {
  const { evaluation, picked, onPick, onCell } = props
  const { rules } = evaluation
  const close = findPicked(evaluation, picked)
  return (
    <div className={styles.rules} data-several={rules.length > 1 || undefined}>
      {rules.length > 1 && <RulesTable evaluation={evaluation} close={close.rule} onPick={onPick} />}
      <Panel title="Matrix and figures">
        <h3 className={styles.closeName}>
          <SafeText text={close.name} max={80} />
        </h3>
        <div className={styles.close}>
          <Matrix judged={close.judged} onCell={(cell) => onCell(cell, close.rule)} />
          <FigureList judged={close.judged} />
        </div>
      </Panel>
    </div>
  )
}

/** Each rule with its figures, any of the rules taken as one, and the averages over all. */
function RulesTable(props: {
  evaluation: Evaluation
  close: string | null
  onPick: (rule: PickedRule) => void
}) {
  const { evaluation, close, onPick } = props
  const { overall, rules, not_judged: others } = evaluation
  const lines = [
    ...rules.map((judged) => ({ rule: judged.rule, judged: judged as Judged })),
    { rule: null, judged: overall },
  ]
  const fired = others.filter(({ rows }) => rows > 0)
  return (
    <Panel title="Rules" aside="choose one to look at it closely" flush>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Rule</th>
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
          {lines.map(({ rule, judged }) => (
            <tr key={rule ?? ''} data-picked={rule === close || undefined}>
              <th scope="row">
                <button
                  type="button"
                  className={styles.pick}
                  aria-pressed={rule === close}
                  onClick={() => onPick(rule)}
                >
                  {rule === null ? OVERALL_NAME : <SafeText text={rule} max={60} />}
                </button>
              </th>
              <td className={styles.number}>{formatEstimate(judged, countSupport(judged))}</td>
              {FIGURES.map(({ name, label }) => (
                <td key={name} className={styles.figure}>
                  <span className={styles.small}>{toShareText(judged[name].value)}</span>
                  <IntervalBar name={label} metric={judged[name]} />
                </td>
              ))}
            </tr>
          ))}
          {AVERAGES.map(({ name, meaning }) => (
            <tr key={name}>
              <th scope="row" colSpan={2} className={styles.average}>
                {meaning}
              </th>
              {FIGURES.map((figure) => (
                <td key={figure.name} className={styles.figure}>
                  <span className={styles.small}>{toShareText(evaluation[name][figure.name])}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {fired.length > 0 && (
        <p className={styles.under}>
          Not judged, because no label stands for them:{' '}
          {fired.slice(0, SHOWN).map(({ rule, rows }, index) => (
            <span key={rule}>
              {index > 0 && ', '}
              <SafeText text={rule} max={60} /> ({formatCounted(rows, 'row')})
            </span>
          ))}
          {fired.length > SHOWN && ` and ${formatCounted(fired.length - SHOWN, 'further rule')}`}
        </p>
      )}
    </Panel>
  )
}

/** Rules that are named in a sentence. */
const SHOWN = 10

const CELLS: { cell: Cell; word: string; count: keyof Judged['matrix'] }[][] = [
  [
    { cell: 'tp', word: 'found', count: 'true_positives' },
    { cell: 'fn', word: 'missed', count: 'false_negatives' },
  ],
  [
    { cell: 'fp', word: 'wrongly', count: 'false_positives' },
    { cell: 'tn', word: 'rightly not', count: 'true_negatives' },
  ],
]

const EXPECTATIONS = ['should trigger', 'should not'] as const

/** Rows by what a rule did and should have done; each cell opens its rows. */
function Matrix({ judged, onCell }: { judged: Judged; onCell: (cell: Cell) => void }) {
  const { matrix, estimated } = judged
  const counts = estimated ?? matrix
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (
    <table className={matrixStyles.matrix}>
      <caption className="visually-hidden">Rows by what the rule did and should have done</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">triggered</th>
          <th scope="col">not triggered</th>
        </tr>
      </thead>
      <tbody>
        {CELLS.map((cells, line) => (
          <tr key={EXPECTATIONS[line]}>
            <th scope="row">{EXPECTATIONS[line]}</th>
            {cells.map(({ cell, word, count }) => (
              <td key={cell}>
                <button
                  type="button"
                  className={matrixStyles.cell}
                  data-right={cell === 'tp' || cell === 'tn'}
                  disabled={matrix[count] === 0}
                  title={
                    matrix[count] === 0
                      ? 'No rows'
                      : `Show the ${formatCounted(matrix[count], 'row')} in Results`
                  }
                  onClick={() => onCell(cell)}
                >
                  <span className={matrixStyles.cellCount}>{formatEstimate(judged, counts[count])}</span>
                  <span className={matrixStyles.cellWord}>{word}</span>
                  <span className={matrixStyles.cellShare}>
                    {formatShare(counts[count], all)} of the rows
                    <span className="visually-hidden">: {CELL_WORDS[cell]}</span>
                  </span>
                </button>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Precision, recall and F1, each drawn with its interval and said in words. */
function FigureList({ judged }: { judged: Judged }) {
  return (
    <dl className={styles.figureList}>
      {FIGURES.map(({ name, label, meaning }) => {
        const metric = judged[name]
        const interval = formatInterval(metric)
        return (
          <div key={name}>
            <dt>
              <strong>{label}</strong> <span className={styles.figureValue}>{toShareText(metric.value)}</span>
            </dt>
            <dd>
              <IntervalBar name={label} metric={metric} large />
              <span className={styles.small}>
                {interval === null ? 'no such rows' : `${interval} · ${meaning}`}
              </span>
            </dd>
          </div>
        )
      })}
      <div>
        <dt>
          <strong>support</strong>{' '}
          <span className={styles.figureValue}>{formatEstimate(judged, countSupport(judged))}</span>
        </dt>
        <dd>
          <span className={styles.small}>rows that should trigger</span>
        </dd>
      </div>
    </dl>
  )
}

/** A count; an estimate for more rows than were labelled is marked as one. */
export function formatEstimate({ estimated }: Judged, count: number): string {
  return `${estimated === null ? '' : '~'}${formatCount(count)}`
}
