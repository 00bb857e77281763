import { formatBytes, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameAnswer, nameCode } from '../../../shared/messages/name-code.ts'
import { adviseInWindow } from '../../../shared/messages/outcome-advice.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { findOperation, subjectOf } from '../../../shared/operations/operations.ts'
import { isOfKind, type RowState } from '../../../shared/run/item-state.ts'
import type { AttemptDetail, CutFrom, RowDetail } from '../../../shared/run/results.ts'
import type { TextMark } from '../../../shared/service/text-marks.ts'
import { type ContentRule, MaskedText, maskJson } from '../../ui/content/user-content.tsx'
import { CopyButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Notice } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { AnswerLabel } from '../../ui/states/answers.tsx'
import { FactTable, Table } from '../../ui/table/table.tsx'
import { LongText, MarkedText, SafeText } from '../../ui/text/safe-text.tsx'
import { CELL_MAX_CHARACTERS } from '../../ui/text/visible-text.ts'
import styles from './results.module.css'

/** The outcome of a row: its error and what to do, or the rules it triggered. */
export function OutcomePart({ operation, detail }: { operation: string; detail: RowDetail }) {
  const { result, problems } = detail
  const { answers, outcome } = subjectOf(operation)
  return (
    <>
      <ErrorNotice detail={detail} operation={operation} />
      {problems.length > 0 && (
        <section>
          <h3>Problems</h3>
          <ul>
            {problems.map((problem) => (
              <li key={`${problem.code} ${problem.field ?? ''} ${sayExpected(problem, 'window')}`}>
                <strong>{problem.severity}</strong>{' '}
                <SafeText text={`${problem.field ?? 'row'}: ${sayExpected(problem, 'window')}`} max={200} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3>Outcome</h3>
        <FactTable
          look="plain"
          className={`pre-wrap ${styles.facts}`}
          facts={[
            operation === 'task' && [
              'Triggered rules',
              result.triggeredRules.length === 0
                ? toNoRules(result.state)
                : result.triggeredRules.map((rule) => (
                    <span
                      key={rule.ruleId}
                      className={`max-w-full text-xs overflow-hidden ellipsis ${styles.rule}`}
                    >
                      <SafeText text={rule.ruleName} max={80} />
                    </span>
                  )),
            ],
            result.answer !== null && [
              answers === null ? 'Callbacks' : outcome,
              <AnswerLabel key="answer" answer={result.answer} />,
            ],
            result.state === 'succeeded' &&
              result.message !== null && [
                'In words',
                <SafeText key="words" text={result.message} max={500} />,
              ],
            result.customIndexItemId !== null && [
              'custom_index_item_id',
              <SafeText key="id" text={result.customIndexItemId} />,
            ],
            result.callbackLatencyMs !== null && ['Callback latency', formatMs(result.callbackLatencyMs)],
            findOperation(operation)?.modeOf !== undefined && ['task_id', toId(result.taskId)],
            operation === 'task' && ['post_id', toId(result.postId)],
          ]}
        />
      </section>
    </>
  )
}

/** Only a row that the service judged can have triggered no rule. */
function toNoRules(state: RowState): string {
  return state === 'succeeded' ? 'none' : '–'
}

function toId(id: string | null) {
  return id === null ? '–' : <SafeText text={id} />
}

function ErrorNotice({ detail, operation }: { detail: RowDetail; operation: string }) {
  const { state, status, errorCode, message } = detail.result
  if (!isOfKind(state, 'unsuccessful')) return null
  const title = nameAnswer(status, errorCode)
  return (
    <Notice kind={state === 'failed' ? 'error' : 'warning'} title={<SafeText text={toTitle(state, title)} />}>
      {message !== null && (
        <p>
          <SafeText text={message} max={500} lines />
        </p>
      )}
      <p>{adviseInWindow({ outcome: state, status, error_code: errorCode }, operation)}</p>
    </Notice>
  )
}

function toTitle(state: RowState, answer: string): string {
  if (state === 'overdue') return 'overdue, no callback in time'
  return answer === '' ? `${state}, no answer` : answer
}

/** A row's own cells, whole, by column; of user content only the length until it is revealed. */
export function CellsTable(props: {
  columns: readonly string[]
  cells: readonly string[]
  isContent: ContentRule
  revealed: boolean
  /** What the answer found in a text, to be marked there. */
  findMarks: (text: string) => TextMark[]
}) {
  return (
    <section>
      <h3>Cells</h3>
      <FactTable
        look="plain"
        className={`pre-wrap ${styles.facts}`}
        facts={props.cells.map((cell, index) => {
          const name = props.columns[index] ?? `Column ${index + 1}`
          return [
            <SafeText key="name" text={name} max={240} />,
            <CellText
              key="cell"
              name={name}
              cell={cell}
              revealed={props.revealed || !props.isContent(index, cell)}
              findMarks={props.findMarks}
            />,
          ]
        })}
      />
    </section>
  )
}

/** Longest text whose marks are drawn, UTF-16 code units. */
const MARKED_MAX = 20_000

function CellText(props: {
  name: string
  cell: string
  revealed: boolean
  findMarks: (text: string) => TextMark[]
}) {
  const { name, cell, revealed } = props
  if (cell === '') return <span className="quiet">empty</span>
  if (!revealed) return <MaskedText text={cell} revealed={false} />
  const marks = cell.length > MARKED_MAX ? [] : props.findMarks(cell)
  if (marks.length > 0) {
    return <MarkedText text={cell} marks={marks.map((mark) => ({ ...mark, label: sayMark(mark) }))} />
  }
  if (cell.length > CELL_MAX_CHARACTERS * 4) return <LongText text={cell} label={name} />
  return <SafeText text={cell} max={CELL_MAX_CHARACTERS * 4} lines />
}

function sayMark({ kind, type }: TextMark): string {
  return type === null ? kind : `${kind}: ${type}`
}

/** One side of an exchange, as it was; the user content in it masked until it is revealed. */
export function ExchangePart(props: {
  title: string
  text: string | null
  /** What stands under the title, such as method and address. */
  line?: string
  /** How long the text was before it was cut. */
  cutFrom?: CutFrom | null
  revealed: boolean
}) {
  const { title, text, line, cutFrom = null, revealed } = props
  return (
    <section>
      <div className={`row justify-between mb-1 ${styles.partHead}`}>
        <h3>{title}</h3>
        {text !== null && revealed && <CopyButton label="Copy" text={() => text} />}
      </div>
      {line !== undefined && (
        <p className="quiet breaks">
          <SafeText text={line} max={2_000} lines />
        </p>
      )}
      {cutFrom !== null && (
        <p className="quiet">
          cut:{' '}
          {cutFrom.bytes === null
            ? 'only its beginning'
            : `only the beginning of ${formatBytes(cutFrom.bytes)}`}{' '}
          was kept
        </p>
      )}
      {text === null && <p className="quiet">no body</p>}
      {text !== null && <LongText text={prettyJson(revealed ? text : maskJson(text))} label={title} />}
    </section>
  )
}

/** Every try of a row: when, how it ended, and where its time went. */
export function AttemptsTable({ attempts }: { attempts: readonly AttemptDetail[] }) {
  return (
    <section>
      <h3>Tries</h3>
      {attempts.length === 0 ? (
        <p className="quiet">Nothing was sent for this row.</p>
      ) : (
        <ScrollRegion className={styles.wide} label="Table of tries">
          <Table
            look="plain"
            className={`pre-wrap ${styles.facts}`}
            rows={attempts}
            toKey={({ number }) => number}
            columns={[
              { title: '#', isRowHead: false, cell: ({ number }) => number },
              { title: 'Sent', cell: ({ sentAt }) => formatTimestamp(sentAt) },
              {
                title: 'Ended',
                cell: ({ outcome, status, errorCode, message }) => (
                  <>
                    {outcome} {status ?? ''}{' '}
                    <SafeText text={errorCode === null ? (message ?? '') : nameCode(errorCode)} max={80} />
                  </>
                ),
              },
              { title: 'Connect', cell: ({ connectMs }) => toTime(connectMs) },
              { title: 'TLS', cell: ({ tlsMs }) => toTime(tlsMs) },
              { title: 'Waiting', cell: ({ waitingMs }) => toTime(waitingMs) },
              { title: 'Duration', cell: ({ durationMs }) => toTime(durationMs) },
            ]}
          />
        </ScrollRegion>
      )}
    </section>
  )
}

function toTime(ms: number | null): string {
  return ms === null ? '–' : formatMs(ms)
}
