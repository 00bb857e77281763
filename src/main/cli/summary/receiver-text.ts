import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { ReceiverStatus } from '../../engine/engine-interface.ts'
import { toPrintable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatSection } from './section.ts'

/** What each kind of refusal means. */
const REFUSALS: Readonly<Record<string, string>> = {
  forged: 'to unknown addresses',
  malformed: 'with a body that is not a JSON object (stored anyway)',
  oversized: 'over the size limit',
  overloaded: 'while too many were waiting',
  slow: 'that took too long to arrive',
  broken: 'that ended early',
  unstored: 'that could not be written to disk',
  wrong_method: 'with a method other than POST',
  bad_request: 'that were not valid HTTP',
}

/** Callbacks of a workspace so far, in one line. */
export function formatReceiverCounts({ received, refused }: ReceiverStatus): string {
  const kinds = Object.entries(refused).filter(([, count]) => count > 0)
  const total = kinds.reduce((sum, [, count]) => sum + count, 0)
  const listed = kinds.map(
    ([kind, count]) => `${formatCount(count)} ${toPrintable(kind.replaceAll('_', ' '))}`,
  )
  return `${formatCounted(received, 'callback')} received, ${formatCount(total)} refused${listed.length === 0 ? '' : ` (${listed.join(', ')})`}`
}

/** Where the receiver is and what it has counted since the workspace was made. */
export function formatReceiver(terminal: Terminal, status: ReceiverStatus): string[] {
  const refused = Object.entries(status.refused).filter(([, count]) => count > 0)
  return [
    ...formatSection(terminal, 'Receiver', [
      `${terminal.tone('accent', toPrintable(status.baseUrl))}  (Ctrl-C stops it)`,
      ...(status.role === 'listening'
        ? []
        : [
            'Another process of this workspace is listening and stores callbacks for this one.',
            'This process takes over when it ends.',
          ]),
      'Late callbacks update their rows when the run is next opened.',
    ]),
    ...formatSection(terminal, 'Received', [
      `${formatCounted(status.received, 'callback')} in this workspace`,
    ]),
    ...formatSection(
      terminal,
      'Refused',
      refused.map(([kind, count]) => `${formatCount(count)} ${REFUSALS[kind] ?? toPrintable(kind)}`),
    ),
  ]
}
