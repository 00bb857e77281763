import { IconFilterOff } from '@tabler/icons-react'
import { Empty } from '../../ui/layout/empty.tsx'

/** What stands in the place of the table where no row is to be shown. */
export function NoRows({ narrowed }: { narrowed: boolean }) {
  return narrowed ? (
    <Empty icon={IconFilterOff} title="No row matches">
      Take away the search or one of the facets at the left to see more.
    </Empty>
  ) : (
    <Empty icon={IconFilterOff} title="No rows">
      The source of this run had no rows.
    </Empty>
  )
}
