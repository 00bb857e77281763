import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconArrowsExchange,
  IconArrowsSplit,
  IconArrowUpRight,
  IconBan,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleMinus,
  IconCirclePlus,
  IconCircleX,
  IconClock,
  IconClockExclamation,
  IconEqual,
  IconFileUnknown,
  IconHelpCircle,
  IconHelpHexagon,
  IconHourglass,
  IconQuestionMark,
  IconRefresh,
  IconShieldCheck,
  type TablerIcon,
} from '@tabler/icons-react'
import { memo } from 'react'
import { formatCount, formatShare } from '../../../shared/messages/figure-text.ts'
import { describeState } from '../../../shared/messages/state-name.ts'
import { type SourcePlace, toRowNumber } from '../../../shared/plan/source-place.ts'
import {
  COUNTED_STATES,
  countRows,
  ROW_ANSWERS,
  ROW_STATES,
  type RowAnswer,
  type RowState,
} from '../../../shared/run/item-state.ts'
import type { ResultRow } from '../../../shared/run/results.ts'
import type { RowCounts } from '../../../shared/run/run.ts'
import { Table } from '../table/table.tsx'
import { SafeText } from '../text/safe-text.tsx'
import styles from './states.module.css'

/** The look of a state on every screen: a word, an icon of its own shape, a colour. */
interface StateLook {
  word: string
  /** The meaning of the state, a sentence for newcomers. */
  meaning: string
  icon: TablerIcon
  /** A CSS colour from `tokens.css`. */
  color: string
}

const LOOKS: Record<RowState, Pick<StateLook, 'icon' | 'color'>> = {
  pending: { icon: IconCircleDashed, color: 'var(--state-pending)' },
  sending: { icon: IconArrowUpRight, color: 'var(--state-sending)' },
  acknowledged: { icon: IconClock, color: 'var(--state-acknowledged)' },
  succeeded: { icon: IconCircleCheck, color: 'var(--state-succeeded)' },
  rejected: { icon: IconBan, color: 'var(--state-rejected)' },
  failed: { icon: IconCircleX, color: 'var(--state-failed)' },
  unknown: { icon: IconHelpCircle, color: 'var(--state-unknown)' },
  overdue: { icon: IconClockExclamation, color: 'var(--state-overdue)' },
  invalid: { icon: IconAlertTriangle, color: 'var(--state-invalid)' },
  left_out: { icon: IconCircleMinus, color: 'var(--state-pending)' },
  skipped: { icon: IconCircleMinus, color: 'var(--state-pending)' },
}

export const STATE_LOOKS = Object.fromEntries(
  Object.entries(LOOKS).map(([name, look]) => {
    const state = name as RowState
    return [
      state,
      { ...look, word: describeState({ state, attempts: 0 }), meaning: ROW_STATES[state].meaning },
    ]
  }),
) as Record<RowState, StateLook>

export function isRowState(text: string): text is RowState {
  return Object.hasOwn(STATE_LOOKS, text)
}

/** The look of rows that were sent before and wait to be resent. */
const TO_BE_REPEATED: StateLook = {
  word: describeState({ state: 'pending', attempts: 1 }),
  meaning: 'Sent before without being taken; it is sent again.',
  icon: IconRefresh,
  color: 'var(--state-pending)',
}

export function toStateLook({ state, attempts }: Pick<ResultRow, 'state' | 'attempts'>): StateLook {
  return state === 'pending' && attempts > 0 ? TO_BE_REPEATED : STATE_LOOKS[state]
}

/** A state as an icon and a word in its colour; `attempts` is the number of tries so far, for a row. */
export const StateLabel = memo(function StateLabel({
  state,
  attempts = 0,
}: {
  state: RowState
  attempts?: number
}) {
  const { meaning, ...look } = toStateLook({ state, attempts })
  return <IconLabel {...look} title={meaning} />
})

/** A run's counts in display order; the count of `pending` includes rows in flight. */
export function toStateCounts(rows: RowCounts): { state: RowState; rows: number }[] {
  return COUNTED_STATES.map(({ state, count }) => ({ state, rows: rows[count] ?? 0 }))
}

/** A run's rows as a bar of states in proportion; {@link CountsTable} beside it has the numbers. */
export function CountsBar({ rows, label }: { rows: RowCounts; label: string }) {
  const all = Math.max(1, rows.read)
  const done = rows.read - countRows(rows, 'open')
  return (
    <div
      className={`flex overflow-hidden bg-sunken ${styles.bar}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={rows.read}
      aria-valuenow={done}
      aria-valuetext={`${formatCount(done)} of ${formatCount(rows.read)} rows, ${formatShare(done, rows.read)}`}
    >
      {toStateCounts(rows).map(({ state, rows: count }) =>
        count === 0 || state === 'pending' ? null : (
          <span
            key={state}
            className={`h-full ${styles.segment}`}
            style={{ width: `${(count / all) * 100}%`, background: STATE_LOOKS[state].color }}
          />
        ),
      )}
    </div>
  )
}

/**
 * A run's rows by state: icon, word, count and share. Leaves out states without rows, except the first and,
 * until the run has ended, the last.
 */
export function CountsTable(props: { rows: RowCounts; toRepeat: number; hasEnded: boolean }) {
  const { rows, toRepeat, hasEnded } = props
  const states = toStateCounts({ ...rows, not_sent: rows.not_sent - toRepeat })
    .filter(
      ({ state, rows: count }) => count > 0 || state === 'succeeded' || (state === 'pending' && !hasEnded),
    )
    .map(({ state, rows: count }) => ({ key: state as string, look: STATE_LOOKS[state], count }))
  const shown =
    toRepeat === 0 ? states : [...states, { key: 'to_repeat', look: TO_BE_REPEATED, count: toRepeat }]
  return (
    <Table
      look="plain"
      className={styles.counts}
      caption="Rows by state"
      hasNoHead
      rows={shown}
      toKey={({ key }) => key}
      toRow={({ key, look }) => ({ title: look.meaning, 'data-state': key })}
      columns={[
        { cell: ({ look: { icon, color, word } }) => <IconLabel icon={icon} color={color} word={word} /> },
        {
          isNumber: true,
          toCell: ({ count }) => ({ 'data-count': count }),
          cell: ({ count }) => formatCount(count),
        },
        {
          isNumber: true,
          width: '4.5rem',
          className: 'quiet',
          cell: ({ count }) => formatShare(count, rows.read),
        },
      ]}
    />
  )
}

/**
 * A row's number as in the spreadsheet, with the file if the source has several, unless `isFileApart`; a
 * tooltip has its other numbers.
 */
export function RowNumber(props: { record: number; place: SourcePlace; isFileApart?: boolean }) {
  const { record, place, isFileApart = false } = props
  return (
    <span title={describePlace(record, place)}>
      {toRowNumber(place)}
      {place.file !== undefined && !isFileApart && (
        <span className="quiet normal breaks pre-wrap">
          {' '}
          of <SafeText text={place.file} max={60} />
        </span>
      )}
    </span>
  )
}

/** The line and file unless the row's number has them, and the record's number, which exports have too. */
export function describePlace(record: number, { line, half, file }: SourcePlace): string {
  const name = `record ${record}${half === undefined ? '' : `, ${half} of a split record`}`
  if (line !== null) return `line ${line} of ${file ?? 'the file'}, ${name}`
  return file === undefined ? name : `${file}, ${name}`
}

/** A word in its colour, after an icon of its own shape. */
export function IconLabel(props: { icon: TablerIcon; color: string; word: string; title?: string }) {
  const { icon: Icon, color, title } = props
  return (
    <span
      className={`inline-flex items-center medium nowrap ${styles.label}`}
      style={{ color }}
      title={title}
    >
      <Icon size="1.1em" stroke={2} className="flex-none" aria-hidden />
      {props.word}
    </span>
  )
}

/** An icon of its own shape and a colour of `tokens.css` for every answer. */
export const ANSWER_LOOKS: Record<RowAnswer, { icon: TablerIcon; color: string }> = {
  added: { icon: IconCirclePlus, color: 'var(--state-succeeded)' },
  pre_existing: { icon: IconEqual, color: 'var(--state-sending)' },
  added_or_pre_existing: { icon: IconEqual, color: 'var(--state-succeeded)' },
  updated: { icon: IconRefresh, color: 'var(--state-succeeded)' },
  non_existent: { icon: IconQuestionMark, color: 'var(--state-rejected)' },
  failed: { icon: IconCircleX, color: 'var(--state-failed)' },
  in_review: { icon: IconHourglass, color: 'var(--state-acknowledged)' },
  reviewed: { icon: IconCircleCheck, color: 'var(--state-pending)' },
  overturned: { icon: IconArrowBackUp, color: 'var(--state-rejected)' },
  upheld: { icon: IconShieldCheck, color: 'var(--state-succeeded)' },
  other_status: { icon: IconHelpHexagon, color: 'var(--state-unknown)' },
  no_result: { icon: IconQuestionMark, color: 'var(--state-unknown)' },
  missing_models: { icon: IconQuestionMark, color: 'var(--state-unknown)' },
  shared_task: { icon: IconArrowsExchange, color: 'var(--state-unknown)' },
  differing_callbacks: { icon: IconArrowsSplit, color: 'var(--state-unknown)' },
  unreadable_callback: { icon: IconFileUnknown, color: 'var(--state-rejected)' },
  callback_of_other_post: { icon: IconArrowsExchange, color: 'var(--state-rejected)' },
  callback_in_doubt: { icon: IconQuestionMark, color: 'var(--state-unknown)' },
}

export function isRowAnswer(text: string): text is RowAnswer {
  return Object.hasOwn(ANSWER_LOOKS, text)
}

/** The service's answer for a row, as an icon and a word in its colour. */
export function AnswerLabel({ answer }: { answer: RowAnswer }) {
  const { word, meaning } = ROW_ANSWERS[answer]
  return <IconLabel {...ANSWER_LOOKS[answer]} word={word} title={meaning} />
}
