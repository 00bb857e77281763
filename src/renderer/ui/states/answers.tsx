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
import type { OperationKind } from '../../../shared/plan/operation.ts'
import { type RowAnswer, rowAnswerSchema } from '../../../shared/run/item-state.ts'
import styles from './states.module.css'

/** How an answer is shown wherever it is shown: a word, an icon of its own shape, a colour. */
interface AnswerLook {
  word: string
  /** What it means, a sentence for who meets it first. */
  meaning: string
  icon: TablerIcon
  /** A CSS colour from `tokens.css`. */
  color: string
}

/** The looks of every answer, in the order they are shown. */
export const ANSWER_LOOKS: Record<RowAnswer, AnswerLook> = {
  added: {
    word: 'added',
    meaning: 'The term is new in the watchlist.',
    icon: IconCirclePlus,
    color: 'var(--state-succeeded)',
  },
  pre_existing: {
    word: 'pre-existing',
    meaning: 'The term was in the watchlist already; its notes were overwritten.',
    icon: IconEqual,
    color: 'var(--state-sending)',
  },
  added_or_pre_existing: {
    word: 'added or pre-existing',
    meaning: 'The first answer was lost, so nobody knows whether this run added the term.',
    icon: IconEqual,
    color: 'var(--state-succeeded)',
  },
  updated: {
    word: 'updated',
    meaning: 'The term has the new notes.',
    icon: IconRefresh,
    color: 'var(--state-succeeded)',
  },
  non_existent: {
    word: 'non-existent',
    meaning: 'The watchlist has no such term, and an update creates none.',
    icon: IconQuestionMark,
    color: 'var(--state-rejected)',
  },
  failed: {
    word: 'not processed',
    meaning: 'The service could not process the term.',
    icon: IconCircleX,
    color: 'var(--state-failed)',
  },
  in_review: {
    word: 'in review',
    meaning: 'Nobody has judged the appeal yet.',
    icon: IconHourglass,
    color: 'var(--state-acknowledged)',
  },
  reviewed: {
    word: 'reviewed',
    meaning: 'Judged; the service does not say whether the decision stands.',
    icon: IconCircleCheck,
    color: 'var(--state-pending)',
  },
  overturned: {
    word: 'overturned',
    meaning: 'The final judgment overturns the decision.',
    icon: IconArrowBackUp,
    color: 'var(--state-rejected)',
  },
  upheld: {
    word: 'upheld',
    meaning: 'The final judgment upholds the decision.',
    icon: IconShieldCheck,
    color: 'var(--state-succeeded)',
  },
  other_status: {
    word: 'other status',
    meaning: 'The service names a status other than In Review and Reviewed.',
    icon: IconHelpHexagon,
    color: 'var(--state-unknown)',
  },
  differing_callbacks: {
    word: 'callbacks differ',
    meaning: 'More than one callback came, and they do not say the same. A result counts more than an error.',
    icon: IconArrowsSplit,
    color: 'var(--state-unknown)',
  },
  unreadable_callback: {
    word: 'unreadable callback',
    meaning: 'A callback came that could not be read.',
    icon: IconFileUnknown,
    color: 'var(--state-rejected)',
  },
  callback_of_other_post: {
    word: 'names another post',
    meaning: 'The callback at the address of this row names the post_id of another one.',
    icon: IconArrowsExchange,
    color: 'var(--state-rejected)',
  },
}

/** Every answer, in the order they are shown. */
export const ROW_ANSWERS: readonly RowAnswer[] = rowAnswerSchema.options

/** Whether a text is one of the answers. */
export function isRowAnswer(text: string): text is RowAnswer {
  return Object.hasOwn(ANSWER_LOOKS, text)
}

/** What the answers of an operation are about; null where it has none. */
export function nameAnswers(operation: string): string | null {
  const names: Partial<Record<OperationKind, string>> = {
    'watchlist-add': 'Terms',
    'watchlist-update': 'Terms',
    'appeal-status': 'Appeals',
  }
  return Object.entries(names).find(([kind]) => kind === operation)?.[1] ?? null
}

/** What the service answered of a row, as an icon and a word in its colour. */
export function AnswerLabel({ answer }: { answer: RowAnswer }) {
  const { icon: Icon, word, meaning, color } = ANSWER_LOOKS[answer]
  return (
    <span className={styles.label} style={{ color }} title={meaning}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      {word}
    </span>
  )
}
