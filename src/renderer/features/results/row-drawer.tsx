import { ActionIcon } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconEye, IconEyeOff, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { sendsKey } from '../../../shared/operations/operations.ts'
import type { Correction } from '../../../shared/plan/fixes.ts'
import type { PlanHeaders } from '../../../shared/plan/request-headers.ts'
import { type SourcePlace, toRowNumber } from '../../../shared/plan/source-place.ts'
import { isOfKind } from '../../../shared/run/item-state.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import {
  readRuleThresholds,
  readTaskFindings,
  type TaskFindings,
} from '../../../shared/service/answer-findings.ts'
import { findTextMarks } from '../../../shared/service/text-marks.ts'
import { toCurl } from '../../../shared/shell-command.ts'
import { type ContentRule, isFieldContent, MaskedText } from '../../ui/content/user-content.tsx'
import { ActionButton, CopyButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { ScrollRegion } from '../../ui/layout/scroll-region.tsx'
import { describePlace, StateLabel } from '../../ui/states/row-states.tsx'
import { FactTable, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './results.module.css'
import { AttemptsTable, CellsTable, ExchangePart, OutcomePart } from './row-parts.tsx'
import { ScoreBars } from './score-bars.tsx'

/**
 * Everything about one row next to the table: its outcome, its cells, the exact exchange and every attempt. It stays
 * open while the cursor moves on. User content is masked until the person reveals it.
 */
export function RowDrawer(props: {
  row: number
  place: SourcePlace
  operation: string
  isAsync: boolean
  detail: RowDetail | null
  /** Why the details cannot be read; null where they can. */
  error: unknown
  apiKeyEnv: string
  /** Further headers of the run's requests. */
  headers: PlanHeaders | undefined
  /** Where the scale of scores ends. */
  scoreEnd: number
  isContent: ContentRule
  revealed: boolean
  onReveal: () => void
  onStep: (step: 1 | -1) => void
  onClose: () => void
  /** Opens its request in the Scratchpad. */
  onScratchpad: () => Promise<void>
  /** What a person says of the row. */
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
          <ActionIcon aria-label="Previous row" title="Previous row (K)" onClick={() => onStep(-1)}>
            <IconChevronUp size="1rem" />
          </ActionIcon>
          <ActionIcon aria-label="Next row" title="Next row (J)" onClick={() => onStep(1)}>
            <IconChevronDown size="1rem" />
          </ActionIcon>
          <ActionIcon aria-label="Close" title="Close (Escape)" onClick={props.onClose}>
            <IconX size="1rem" />
          </ActionIcon>
        </div>
        <div className="row flex-wrap gap-2 w-full">
          {wasMapped && (
            <CopyButton
              label="Copy as curl"
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
          <ActionButton
            label={revealed ? 'Hide' : 'Reveal'}
            small
            aria-pressed={revealed}
            leftSection={revealed ? <IconEyeOff size="1rem" /> : <IconEye size="1rem" />}
            onClick={onReveal}
          />
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
            <OutcomePart operation={props.operation} detail={detail} />
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
              cutFrom={detail.responseCutFrom}
              revealed={revealed}
            />
            {detail.callbacks.map((callback) => (
              <ExchangePart
                key={`${callback.receivedAt} ${callback.effect}`}
                title={`Callback, ${callback.effect}`}
                text={callback.body}
                cutFrom={callback.cutFrom}
                line={`received ${formatTimestamp(callback.receivedAt)}`}
                revealed={revealed}
              />
            ))}
            <AttemptsTable attempts={detail.attempts} />
            {detail.attempts.map(
              ({ number, response }) =>
                response !== undefined && (
                  <ExchangePart
                    key={number}
                    title={`Answer to try ${number}`}
                    text={response.body}
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

/** The JSON that decided the row: in async that of its callback; undefined where there is none. */
function readDecidingBody({ callbacks, responseBody }: RowDetail): unknown {
  const settled = callbacks.find(({ effect }) => effect === 'settled')
  try {
    return JSON.parse(settled?.body ?? responseBody ?? '')
  } catch {
    return undefined
  }
}

/** Longest part of a text that is shown, in characters. */
const TEXT_MAX = 2_000

/** The fields of a row that were sent otherwise than its cells have them. */
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

/** Most entries of a list that are shown; the answer has them all. */
const ENTRIES_MAX = 50

/**
 * What the answer of a task says beyond rules and scores. What it quotes of the content is masked until that is
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
              ([name, <SafeText key={name} text={list.map(toText).join(', ')} max={400} />] as const),
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

/** What an entry quotes, and what the answer calls it. */
function readEntry(entry: unknown): { value: string; type: string | null } {
  if (typeof entry !== 'object' || entry === null) return { value: toText(entry), type: null }
  const value = 'value' in entry && typeof entry.value === 'string' ? entry.value : null
  const type = 'type' in entry && typeof entry.type === 'string' && entry.type !== '' ? entry.type : null
  return value === null ? { value: toText(entry), type: null } : { value, type }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
