import {
  IconAlertTriangle,
  IconArrowUpRight,
  IconBan,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClock,
  IconClockExclamation,
  IconHelpCircle,
  IconRefresh,
  type TablerIcon,
} from '@tabler/icons-react'
import { describeState } from '../../../shared/messages/state-name.ts'
import type { ResultRow, RowState } from '../../../shared/run/results.ts'

/** How a state is shown wherever it is shown: a word, an icon of its own shape, a colour. */
export interface StateLook {
  word: string
  /** What the state means, a sentence for who meets it first. */
  meaning: string
  icon: TablerIcon
  /** A CSS colour from `tokens.css`. */
  color: string
}

/** The looks of every row state. */
export const STATE_LOOKS: Record<RowState, StateLook> = {
  pending: {
    word: 'not sent',
    meaning: 'Nothing has been sent for this row yet.',
    icon: IconCircleDashed,
    color: 'var(--state-pending)',
  },
  sending: {
    word: 'sending',
    meaning: 'The request is on its way.',
    icon: IconArrowUpRight,
    color: 'var(--state-sending)',
  },
  acknowledged: {
    word: 'awaiting',
    meaning: 'The service took it; its callback is awaited.',
    icon: IconClock,
    color: 'var(--state-acknowledged)',
  },
  succeeded: {
    word: 'succeeded',
    meaning: 'The service answered with a result.',
    icon: IconCircleCheck,
    color: 'var(--state-succeeded)',
  },
  rejected: {
    word: 'rejected',
    meaning: 'The service answered with an error.',
    icon: IconBan,
    color: 'var(--state-rejected)',
  },
  failed: {
    word: 'failed',
    meaning: 'Certainly not taken by the service: safe to send again.',
    icon: IconCircleX,
    color: 'var(--state-failed)',
  },
  unknown: {
    word: 'unknown',
    meaning: 'Sent, and nobody knows whether the service took it: sending it again may double it.',
    icon: IconHelpCircle,
    color: 'var(--state-unknown)',
  },
  overdue: {
    word: 'overdue',
    meaning: 'The service took it, and its callback has not come in time.',
    icon: IconClockExclamation,
    color: 'var(--state-overdue)',
  },
  invalid: {
    word: 'invalid',
    meaning: 'The row has errors and is not sent.',
    icon: IconAlertTriangle,
    color: 'var(--state-invalid)',
  },
}

/** The look of rows that were sent before and wait to be sent again. */
export const TO_BE_REPEATED: StateLook = {
  word: describeState({ state: 'pending', attempts: 1 }),
  meaning: 'Sent before without being taken; it is sent again.',
  icon: IconRefresh,
  color: 'var(--state-pending)',
}

/** The look of one row. */
export function toStateLook({ state, attempts }: Pick<ResultRow, 'state' | 'attempts'>): StateLook {
  return state === 'pending' && attempts > 0 ? TO_BE_REPEATED : STATE_LOOKS[state]
}
