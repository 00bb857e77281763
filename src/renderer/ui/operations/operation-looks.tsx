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
import {
  findOperation,
  OPERATIONS,
  type Operation,
  type OperationKind,
} from '../../../shared/operations/operations.ts'
import type { NamedPlace } from '../connection/destination.ts'
import { ConnectionChip } from '../connection/destination-panel.tsx'
import { ActionButton } from '../controls.tsx'
import { Notice } from '../layout/screen.tsx'
import { SafeText } from '../text/safe-text.tsx'
import styles from './operations.module.css'

/** The look of an operation on every screen. */
interface OperationLook {
  /** The title on its card. */
  title: string
  /** Its effect on a row, as a sentence. */
  meaning: string
  icon: TablerIcon
}

const ICONS: Record<OperationKind, TablerIcon> = {
  task: IconSend,
  'index-add': IconPhotoPlus,
  'index-remove': IconPhotoMinus,
  'watchlist-add': IconListDetails,
  'watchlist-update': IconNotes,
  'appeal-status': IconGavel,
}

/** The activities to choose from: an operation on each row, or a load test that submits content. */
export type Activity = OperationKind | 'load'

/** The look of a load test on every screen. */
export const LOAD_LOOK: OperationLook = {
  title: 'Load test',
  meaning: 'Submits content at a set pace to measure how fast and how reliably a deployment answers.',
  icon: IconGauge,
}

export function toLook(activity: Activity): OperationLook {
  if (activity === 'load') return LOAD_LOOK
  const { title, meaning } = OPERATIONS[activity].words
  return { title, meaning, icon: ICONS[activity] }
}

/** A run's operation within a sentence; an unknown one as it is stored. */
export function nameOperation(operation: string): string {
  return findOperation(operation)?.words.title.toLowerCase() ?? operation
}

/** The settings of a load test, in a few words: `v1 sync, open, 50 requests a second`. */
export function describeLoadTest(operation: Operation, load: Load | null): string {
  return [describeOptions(operation), load === null ? null : describePace(load.pace)]
    .filter((part) => part !== null)
    .join(', ')
}

/** An operation's settings: `v2 async, 3 models`, `faces, sync`, `badwords, 500 terms per request`. */
export function describeOptions(operation: Operation): string {
  return OPERATIONS[operation.kind].words.describe(operation)
}

/** The purpose and destination of the rows being prepared, on one line, with a control to change them. */
export function OperationStrip(props: {
  operation: Operation
  /** The load test, null while it is incomplete; absent if there is none. */
  load?: Load | null
  destination: NamedPlace
  /** What is missing in the operation; null if nothing. */
  gap: string | null
  onChange: () => void
}) {
  const { operation, load } = props
  const { title, icon: Icon } = toLook(load === undefined ? operation.kind : 'load')
  const words = load === undefined ? describeOptions(operation) : describeLoadTest(operation, load)
  return (
    <div className={`row gap-2 min-w-0 ${styles.strip}`}>
      <Icon size="1.1rem" stroke={1.5} className="flex-none quiet" aria-hidden />
      <p className="truncate min-w-0 quiet shrink stressed">
        <strong>{title}</strong> <SafeText text={words} max={120} /> to{' '}
        <ConnectionChip place={props.destination} />
        {props.gap !== null && <span className="ml-3 warned bold">{props.gap}</span>}
      </p>
      <ActionButton label="Change" small onClick={props.onChange} />
    </div>
  )
}

/** What a person should know before using an operation; with `isLast` only what cannot be undone. */
export function OperationNotice({ kind, isLast = false }: { kind: OperationKind; isLast?: boolean }) {
  const { notice } = OPERATIONS[kind].words
  if (notice === undefined || (isLast && notice.kind !== 'warning')) return null
  return (
    <Notice kind={notice.kind} title={notice.title}>
      {notice.text}
    </Notice>
  )
}
