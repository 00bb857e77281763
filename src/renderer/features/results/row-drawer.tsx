import { IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { formatBytes, formatMs } from '../../../shared/messages/figure-text.ts'
import { nameAnswer, nameCode } from '../../../shared/messages/name-code.ts'
import { adviseInWindow } from '../../../shared/messages/outcome-advice.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { findOperation, sendsKey, subjectOf } from '../../../shared/operations/operations.ts'
import type { Correction } from '../../../shared/plan/fixes.ts'
import type { PlanHeaders } from '../../../shared/plan/request-headers.ts'
import { type SourcePlace, toRowNumber } from '../../../shared/plan/source-place.ts'
import { isOfKind, type RowState } from '../../../shared/run/item-state.ts'
import type { AttemptDetail, CutFrom, RowDetail } from '../../../shared/run/results.ts'
import {
  readRuleThresholds,
  readTaskFindings,
  sayValue,
  type TaskFindings,
} from '../../../shared/service/answer-findings.ts'
import { findTextMarks, type TextMark } from '../../../shared/service/text-marks.ts'
import { toCurl } from '../../../shared/shell-command.ts'
import {
  type ContentRule,
  isFieldContent,
  MaskedText,
  maskJson,
  nameCopy,
  removeQuotes,
} from '../../ui/content/user-content.tsx'
import { ActionButton, CopyButton, IconButton, RevealButton, ScrollRegion } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Notice } from '../../ui/layout/screen.tsx'
import { AnswerLabel, describePlace, StateLabel } from '../../ui/states/row-states.tsx'
import { FactTable, Table } from '../../ui/table/table.tsx'
import { LongText, MarkedText, SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import { CELL_MAX_CHARACTERS } from '../../ui/text/visible-text.ts'
import styles from './results.module.css'
import { ScoreBars } from './score-bars.tsx'

/**
 * Everything about one row, beside the table: its outcome, its cells, the exact exchange and every attempt.
 * It stays open while the cursor moves. User content is masked until revealed.
 */
export function RowDrawer(props: {
  row: number
  place: SourcePlace
  operation: string
  isAsync: boolean
  detail: RowDetail | null
  /** Why the details cannot be read; null if they can. */
  error: unknown
  apiKeyEnv: string
  /** Further headers of the run's requests. */
  headers: PlanHeaders | undefined
  scoreEnd: number
  isContent: ContentRule
  revealed: boolean
  onReveal: () => void
  onStep: (step: 1 | -1) => void
  onClose: () => void
  /** Opens its request in the Scratchpad. */
  onScratchpad: () => Promise<void>
  verdicts: ReactNode
  /** Pictures, videos and sounds that the row names. */
  media: ReactNode
}) {
  const { detail, revealed, onReveal, onStep } = props
  const number = toRowNumber(props.place)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const scratch = useMutation({ mutationFn: props.onScratchpad })
  const body = useMemo(() => (detail === null ? undefined : readDecidingBody(detail)), [detail])
  const findings = useMemo(
    () => (props.operation === 'task' && body !== undefined ? readTaskFindings(body) : null),
    [props.operation, body],
  )
  const wasMapped = detail !== null && !isOfKind(detail.result.state, 'unsent')
  return (
    <aside className={`stack max-w-full bg-surface ${styles.drawer}`} aria-label={`Row ${number}`}>
      <header className={`row flex-wrap p-2-4 border-b flex-none ${styles.drawerHead}`}>
        <h2 className={`nowrap text-md bold ${styles.drawerTitle}`} ref={heading} tabIndex={-1}>
          Row {number}
        </h2>
        <span className="truncate small min-w-0">{describePlace(props.row, props.place)}</span>
        {detail !== null && <StateLabel state={detail.result.state} attempts={detail.result.attempts} />}
        <div className="flex gap-1 ml-auto">
          <IconButton
            icon={IconChevronUp}
            label="Previous row"
            title="Previous row (K)"
            onClick={() => onStep(-1)}
          />
          <IconButton
            icon={IconChevronDown}
            label="Next row"
            title="Next row (J)"
            onClick={() => onStep(1)}
          />
          <IconButton icon={IconX} label="Close" title="Close (Escape)" onClick={props.onClose} />
        </div>
        <div className="row flex-wrap gap-2 w-full">
          {wasMapped && (
            <CopyButton
              label={nameCopy('Copy as curl', detail.requestBody, revealed)}
              text={() =>
                toCurl({
                  method: detail.requestMethod,
                  url: detail.requestUrl,
                  body: detail.requestBody,
                  hasKey: sendsKey({ kind: props.operation }),
                  apiKeyEnv: props.apiKeyEnv,
                  headers: props.headers,
                })
              }
            />
          )}
          {(wasMapped || detail?.unsentBody !== undefined) && (
            <ActionButton label="Open in Scratchpad" small onClick={() => scratch.mutate()} />
          )}
          <RevealButton isRevealed={revealed} onClick={onReveal} />
        </div>
      </header>
      <ScrollRegion
        className={`flex-1 min-h-0 grid one-column gap-4 ${styles.drawerBody}`}
        label="Details of the row"
      >
        {props.error !== null && <ErrorNotice error={props.error} />}
        {scratch.error !== null && <ErrorNotice error={scratch.error} onDismiss={scratch.reset} />}
        {detail !== null && (
          <>
            {props.verdicts}
            <OutcomePart operation={props.operation} detail={detail} revealed={revealed} />
            {props.media && (
              <section>
                <h3>Media</h3>
                {props.media}
              </section>
            )}
            {detail.result.classScores.length > 0 && (
              <ScoreBars
                scores={detail.result.classScores}
                end={props.scoreEnd}
                thresholds={readRuleThresholds(body)}
              />
            )}
            {findings !== null && <FindingsPart findings={findings} revealed={revealed} />}
            <CellsTable
              columns={detail.columns}
              cells={detail.result.cells}
              isContent={props.isContent}
              revealed={revealed}
              findMarks={(text) => (findings === null ? [] : findTextMarks(text, findings))}
            />
            <SentAs corrections={detail.corrections ?? []} revealed={revealed} />
            {wasMapped && (
              <ExchangePart
                title="Request"
                text={detail.requestBody}
                line={`${detail.requestMethod} ${detail.requestUrl}`}
                revealed={revealed}
              />
            )}
            <ExchangePart
              title={props.isAsync ? 'Acknowledgement' : 'Response'}
              text={detail.responseBody}
              request={detail.requestBody}
              cutFrom={detail.responseCutFrom}
              revealed={revealed}
            />
            {detail.callbacks.map((callback) => (
              <ExchangePart
                key={`${callback.receivedAt} ${callback.effect}`}
                title={`Callback, ${callback.effect}`}
                text={callback.body}
                request={detail.requestBody}
                cutFrom={callback.cutFrom}
                line={`received ${formatTimestamp(callback.receivedAt)}`}
                revealed={revealed}
              />
            ))}
            <AttemptsTable detail={detail} revealed={revealed} />
            {detail.attempts.map(
              ({ number, response }) =>
                response !== undefined && (
                  <ExchangePart
                    key={number}
                    title={`Answer to try ${number}`}
                    text={response.body}
                    request={detail.requestBody}
                    cutFrom={response.cutFrom}
                    revealed={revealed}
                  />
                ),
            )}
          </>
        )}
      </ScrollRegion>
    </aside>
  )
}

/** The JSON that decided the row; for an async row, that of its callback; undefined if there is none. */
function readDecidingBody({ callbacks, responseBody }: RowDetail): unknown {
  const settled = callbacks.find(({ effect }) => effect === 'settled')
  try {
    return JSON.parse(settled?.body ?? responseBody ?? '')
  } catch {
    return undefined
  }
}

const TEXT_MAX = 2_000

/** The fields of a row whose sent values differ from its cells. */
function SentAs({ corrections, revealed }: { corrections: readonly Correction[]; revealed: boolean }) {
  if (corrections.length === 0) return null
  return (
    <section>
      <h3>Corrected</h3>
      <Table
        look="plain"
        className={`pre-wrap ${styles.facts}`}
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

/** Most entries of a list that are shown; the answer has all. */
const ENTRIES_MAX = 50

/**
 * The content of a task's answer beyond rules and scores. Quotes of the row's content are masked until
 * revealed; addresses are texts, not links.
 */
function FindingsPart({ findings, revealed }: { findings: TaskFindings; revealed: boolean }) {
  const { fromCache, languages, models, pii, urls, textFilters } = findings
  const quoting = [
    ['Personal data', pii],
    ['Matched terms', textFilters],
    ['Addresses', urls],
    ['Index matches', findings.matches],
  ] as const
  const naming = [
    ['Moderated classes', findings.moderatedClasses],
    ['Custom classes', findings.customClasses],
  ] as const
  const lists = [...quoting, ...naming].some(([, list]) => list.length > 0)
  if (fromCache === null && languages.length === 0 && models.length === 0 && !lists) return null
  return (
    <section>
      <h3>Found in the content</h3>
      <FactTable
        look="plain"
        className={`pre-wrap ${styles.facts}`}
        facts={[
          languages.length > 0 && ['Language', <SafeText key="all" text={languages.join(', ')} max={200} />],
          models.length > 0 && [
            'Models',
            <ul key="all">
              {models.map(({ model, code, message }) => (
                <li key={`${model} ${code}`}>
                  <SafeText text={model} max={80} />
                  {code !== null && code !== '0' && (
                    <>
                      : code <SafeText text={code} max={40} /> <SafeText text={message ?? ''} max={120} />
                    </>
                  )}
                </li>
              ))}
            </ul>,
          ],
          ...quoting.map(
            ([name, list]) =>
              list.length > 0 && ([name, <Entries key={name} list={list} revealed={revealed} />] as const),
          ),
          ...naming.map(
            ([name, list]) =>
              list.length > 0 &&
              ([name, <SafeText key={name} text={list.map(sayValue).join(', ')} max={400} />] as const),
          ),
          fromCache !== null && ['From cache', fromCache ? 'yes' : 'no'],
        ]}
      />
    </section>
  )
}

function Entries({ list, revealed }: { list: readonly unknown[]; revealed: boolean }) {
  const shown = list.slice(0, ENTRIES_MAX)
  return (
    <ul>
      {shown.map((entry, index) => {
        const { value, type } = readEntry(entry)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries may be alike and never move
          <li key={index}>
            {type !== null && (
              <>
                <SafeText text={type} max={60} />:{' '}
              </>
            )}
            <MaskedText text={value} revealed={revealed} />
          </li>
        )
      })}
      {list.length > shown.length && <li>and {list.length - shown.length} more, in the answer below</li>}
    </ul>
  )
}

/** An entry's quote and its type in the answer. */
function readEntry(entry: unknown): { value: string; type: string | null } {
  if (typeof entry !== 'object' || entry === null) return { value: sayValue(entry), type: null }
  const value = 'value' in entry && typeof entry.value === 'string' ? entry.value : null
  const type = 'type' in entry && typeof entry.type === 'string' && entry.type !== '' ? entry.type : null
  return value === null ? { value: sayValue(entry), type: null } : { value, type }
}

interface OutcomeProps {
  operation: string
  detail: RowDetail
  revealed: boolean
}

/** The outcome of a row: its error and what to do, or its triggered rules. */
function OutcomePart({ operation, detail, revealed }: OutcomeProps) {
  const { result, problems } = detail
  const { answers, outcome } = subjectOf(operation)
  return (
    <>
      <OutcomeNotice detail={detail} operation={operation} revealed={revealed} />
      {problems.length > 0 && (
        <section>
          <h3>Problems</h3>
          <ul>
            {problems.map((problem) => (
              <li key={`${problem.code} ${problem.field ?? ''} ${sayExpected(problem, 'window')}`}>
                <strong>{problem.severity}</strong>{' '}
                <Sentence text={`${problem.field ?? 'row'}: ${sayExpected(problem, 'window')}`} />
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
              answers === null ? 'Note' : outcome,
              <AnswerLabel key="answer" answer={result.answer} />,
            ],
            result.state === 'succeeded' &&
              result.message !== null && [
                'In words',
                <SafeText key="words" text={hideQuotes(result.message, detail, revealed)} max={500} />,
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

/** The service's message about a row; quotes of the request are hidden until revealed. */
function hideQuotes(message: string, { requestBody }: RowDetail, revealed: boolean): string {
  return revealed ? message : removeQuotes(message, requestBody)
}

/** Only a row that the service judged can have triggered no rule. */
function toNoRules(state: RowState): string {
  return state === 'succeeded' ? 'none' : '–'
}

function toId(id: string | null) {
  return id === null ? '–' : <SafeText text={id} />
}

function OutcomeNotice({ detail, operation, revealed }: OutcomeProps) {
  const { state, status, errorCode, message } = detail.result
  if (!isOfKind(state, 'unsuccessful')) return null
  const title = nameAnswer(status, errorCode)
  return (
    <Notice kind={state === 'failed' ? 'error' : 'warning'} title={<SafeText text={toTitle(state, title)} />}>
      {message !== null && (
        <p>
          <SafeText text={hideQuotes(message, detail, revealed)} max={500} lines />
        </p>
      )}
      <p>{adviseInWindow({ outcome: state, status, error_code: errorCode }, operation, 'row')}</p>
    </Notice>
  )
}

function toTitle(state: RowState, answer: string): string {
  if (state === 'overdue') return 'overdue, no callback in time'
  return answer === '' ? `${state}, no answer` : answer
}

/** A row's own cells in full, by column; of user content, only the length until revealed. */
function CellsTable(props: {
  columns: readonly string[]
  cells: readonly string[]
  isContent: ContentRule
  revealed: boolean
  /** Finds the parts of a text that the answer refers to, to mark them. */
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

/** One side of an exchange, unchanged; user content is masked until revealed. */
function ExchangePart(props: {
  title: string
  text: string | null
  /** The request body that this answers and may quote. */
  request?: string | null
  /** A line below the title, such as method and address. */
  line?: string
  /** Length of the text before it was cut. */
  cutFrom?: CutFrom | null
  revealed: boolean
}) {
  const { title, text, request = null, line, cutFrom = null, revealed } = props
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
      {text !== null && (
        <LongText text={prettyJson(revealed ? text : maskJson(text, request))} label={title} />
      )}
    </section>
  )
}

function AttemptsTable({ detail, revealed }: { detail: RowDetail; revealed: boolean }) {
  const { attempts } = detail
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
              { title: 'Sent', cell: ({ sentAt }) => (sentAt === null ? '' : formatTimestamp(sentAt)) },
              {
                title: 'Ended',
                cell: ({ outcome, status, errorCode, message }) => (
                  <>
                    {outcome} {status ?? ''}{' '}
                    <SafeText
                      text={
                        errorCode === null ? hideQuotes(message ?? '', detail, revealed) : nameCode(errorCode)
                      }
                      max={80}
                    />
                  </>
                ),
              },
              { title: 'Connect', cell: ({ connectMs }) => toTime(connectMs) },
              { title: 'TLS', cell: ({ tlsMs }) => toTime(tlsMs) },
              { title: 'Waiting', cell: ({ waitingMs }) => toTime(waitingMs) },
              { title: 'Duration', cell: ({ durationMs }) => toTime(durationMs) },
              ...(attempts.some(({ traceparent }) => traceparent !== undefined)
                ? [{ title: 'traceparent', cell: ({ traceparent = '–' }: AttemptDetail) => traceparent }]
                : []),
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
