import type { ReceiverStatus } from '../../engine/engine-interface.ts'
import { formatCount, formatCounted } from '../terminal/number-format.ts'
import { toPrintable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatSection } from './section.ts'

/** What each kind of refusal means, for a person who wonders where a callback went. */
const REFUSALS: Readonly<Record<string, string>> = {
  forged: 'at addresses that were never given out',
  malformed: 'of bodies that are no JSON object, stored all the same',
  oversized: 'larger than is taken',
  overloaded: 'while too many were waiting',
  slow: 'that took too long to come',
  broken: 'that broke off',
  unstored: 'that the disk could not take',
  wrong_method: 'of another method than POST',
  bad_request: 'that were no HTTP',
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
      `${terminal.tone('accent', toPrintable(status.baseUrl))}  until Ctrl-C`,
      ...(status.role === 'listening'
        ? []
        : [
            'Another process of this workspace listens there, and stores for this one, too;',
            'when it ends, this one takes over.',
          ]),
      'Callbacks that come late still settle their rows, as soon as their run is looked at.',
    ]),
    ...formatSection(terminal, 'Received', [
      `${formatCounted(status.received, 'callback')} in this workspace so far`,
    ]),
    ...formatSection(
      terminal,
      'Refused',
      refused.map(([kind, count]) => `${formatCount(count)} ${REFUSALS[kind] ?? toPrintable(kind)}`),
    ),
  ]
}
