import { Button } from '@mantine/core'
import { Notice } from '../../ui/layout/notice.tsx'

/** Asks about a first line that looks like a row: taken for the header, it would be lost in silence. */
export function HeaderDoubt({ onRow }: { onRow: () => void }) {
  return (
    <Notice
      kind="warning"
      title="The first line looks like a row"
      actions={
        <Button variant="default" onClick={onRow}>
          It is a row
        </Button>
      }
    >
      It is read as the names of the columns now, and would not be sent.
    </Notice>
  )
}
