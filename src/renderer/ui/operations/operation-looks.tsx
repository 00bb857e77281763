import { Button } from '@mantine/core'
import {
  IconGauge,
  IconGavel,
  IconListDetails,
  IconNotes,
  IconPhotoMinus,
  IconPhotoPlus,
  IconSend,
  type TablerIcon,
} from '@tabler/icons-react'
import { describePace, type Load } from '../../../shared/load/load.ts'
import type { Operation, OperationKind } from '../../../shared/plan/operation.ts'
import type { NamedPlace } from '../connection/destination.ts'
import { ConnectionChip } from '../connection/destination-panel.tsx'
import { Notice } from '../layout/notice.tsx'
import { SafeText } from '../text/safe-text.tsx'
import styles from './operations.module.css'

/** How an operation is shown wherever it is shown. */
interface OperationLook {
  /** As on its card. */
  title: string
  /** What it does with a row, a sentence. */
  meaning: string
  icon: TablerIcon
  /** What a row of its source is, for counting. */
  row: string
}

/** The looks of every operation, in the order they are offered. */
export const OPERATION_LOOKS: Record<OperationKind, OperationLook> = {
  task: {
    title: 'Submit content',
    meaning: 'Submits texts, or URLs of images and videos, and lists the rules that each one triggers.',
    icon: IconSend,
    row: 'row',
  },
  'index-add': {
    title: 'Add to index',
    meaning: 'Adds images to a custom index. The ids it returns are the only way to remove them.',
    icon: IconPhotoPlus,
    row: 'item',
  },
  'index-remove': {
    title: 'Remove from index',
    meaning: 'Removes items from a custom index by id, such as from the export of the run that added them.',
    icon: IconPhotoMinus,
    row: 'item',
  },
  'watchlist-add': {
    title: 'Add terms',
    meaning: 'Adds terms, with optional notes, to an existing watchlist.',
    icon: IconListDetails,
    row: 'term',
  },
  'watchlist-update': {
    title: 'Update terms',
    meaning: 'Replaces the notes of terms in a watchlist. It never adds a term.',
    icon: IconNotes,
    row: 'term',
  },
  'appeal-status': {
    title: 'Appeal status',
    meaning: 'Looks up appeals: in review, upheld or overturned. It changes nothing.',
    icon: IconGavel,
    row: 'appeal',
  },
}

/** What can be chosen to be done: an operation on each row, or a load test that submits content. */
export type Activity = OperationKind | 'load'

/** How a load test is shown wherever it is shown. */
export const LOAD_LOOK: OperationLook = {
  title: 'Load test',
  meaning: 'Submits content at a set pace to measure how fast and how reliably a deployment answers.',
  icon: IconGauge,
  row: 'row',
}

/** How an activity is shown. */
export function toLook(activity: Activity): OperationLook {
  return activity === 'load' ? LOAD_LOOK : OPERATION_LOOKS[activity]
}

/** The name of what a run does within a sentence; of an operation that is not known, as it is stored. */
export function nameOperation(operation: string): string {
  return isOperationKind(operation) ? OPERATION_LOOKS[operation].title.toLowerCase() : operation
}

/** Every operation, in the order they are offered. */
export const OPERATION_KINDS = Object.keys(OPERATION_LOOKS).filter(isOperationKind)

/** Whether a text names an operation. */
export function isOperationKind(text: string): text is OperationKind {
  return Object.hasOwn(OPERATION_LOOKS, text)
}

/** What a load test is set to, in a few words: `v1 sync, open, 50 requests a second`. */
export function describeLoadTest(operation: Operation, load: Load | null): string {
  return [describeOptions(operation), load === null ? null : describePace(load.pace)]
    .filter((part) => part !== null)
    .join(', ')
}

/** What an operation is set to, in a few words: `v2 async, 3 models`, `faces, sync`, `badwords, 500 terms per request`. */
export function describeOptions(operation: Operation): string {
  switch (operation.kind) {
    case 'task': {
      const { api, mode, models, legacy } = operation
      const named = models.length > 1 ? `${models.length} models` : models[0]
      return [`${api} ${mode}`, named, legacy ? 'legacy answer' : undefined].filter(Boolean).join(', ')
    }
    case 'index-add':
    case 'index-remove':
      return `${operation.indexId || 'no index yet'}, ${operation.mode}`
    case 'watchlist-add':
    case 'watchlist-update':
      return `${operation.watchlist || 'no watchlist yet'}, ${operation.termsPerRequest} terms per request`
    case 'appeal-status':
      return 'only reads'
  }
}

/** What the rows being prepared are for and where they go, in a line, with the way to change it. */
export function OperationStrip(props: {
  operation: Operation
  /** What the load test is, null while it is incomplete; absent where there is none. */
  load?: Load | null
  destination: NamedPlace
  /** What the operation still lacks, or null. */
  gap: string | null
  onChange: () => void
}) {
  const { operation, load } = props
  const { title, icon: Icon } = toLook(load === undefined ? operation.kind : 'load')
  const words = load === undefined ? describeOptions(operation) : describeLoadTest(operation, load)
  return (
    <div className={styles.strip}>
      <Icon size="1.1rem" stroke={1.5} aria-hidden />
      <p className={styles.words}>
        <strong>{title}</strong> <SafeText text={words} max={120} /> to{' '}
        <ConnectionChip place={props.destination} />
        {props.gap !== null && <span className={styles.gap}>{props.gap}</span>}
      </p>
      <Button variant="default" size="compact-xs" onClick={props.onChange}>
        Change
      </Button>
    </div>
  )
}

/** Said before terms are added: what the service does to those it has already (docs/interface.md §4.5). */
export function OverwriteNotice() {
  return (
    <Notice kind="warning" title="Notes of existing terms are overwritten">
      If a term exists in the watchlist, the notes from this source replace its notes, and it counts as
      pre-existing. The old notes cannot be read back.
    </Notice>
  )
}
