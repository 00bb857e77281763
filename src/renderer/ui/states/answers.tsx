import {
  IconArrowBackUp,
  IconArrowsExchange,
  IconArrowsSplit,
  IconCircleCheck,
  IconCirclePlus,
  IconCircleX,
  IconEqual,
  IconFileUnknown,
  IconHelpHexagon,
  IconHourglass,
  IconQuestionMark,
  IconRefresh,
  IconShieldCheck,
  type TablerIcon,
} from '@tabler/icons-react'
import { ROW_ANSWERS, type RowAnswer } from '../../../shared/run/item-state.ts'
import { IconLabel } from './icon-label.tsx'

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
  differing_callbacks: { icon: IconArrowsSplit, color: 'var(--state-unknown)' },
  unreadable_callback: { icon: IconFileUnknown, color: 'var(--state-rejected)' },
  callback_of_other_post: { icon: IconArrowsExchange, color: 'var(--state-rejected)' },
}

/** Whether a text is one of the answers. */
export function isRowAnswer(text: string): text is RowAnswer {
  return Object.hasOwn(ANSWER_LOOKS, text)
}

/** What the service answered of a row, as an icon and a word in its colour. */
export function AnswerLabel({ answer }: { answer: RowAnswer }) {
  const { word, meaning } = ROW_ANSWERS[answer]
  return <IconLabel {...ANSWER_LOOKS[answer]} word={word} title={meaning} />
}
