import { Notice } from '../layout/notice.tsx'
import { ConnectionChip } from './connection-chip.tsx'
import type { NamedPlace } from './destination.ts'

/** Says that rows go to production, and where the question about it will appear: not in this page. */
export function ProductionNotice({ place }: { place: NamedPlace }) {
  return (
    <Notice kind="warning" title="This is production">
      The rows go to <ConnectionChip place={place} />. Before anything is sent, Sluice asks you to confirm it
      outside of this page: in a dialog, or in a browser tab of its own.
    </Notice>
  )
}
