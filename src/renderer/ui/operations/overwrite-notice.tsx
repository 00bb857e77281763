import { Notice } from '../layout/notice.tsx'

/** Said before terms are added: what the service does to those it has already (docs/interface.md §4.5). */
export function OverwriteNotice() {
  return (
    <Notice kind="warning" title="Notes of existing terms are overwritten">
      A term that is in the watchlist already gets the notes of this source in place of its own, and is
      counted as pre-existing. The old notes cannot be read back.
    </Notice>
  )
}
