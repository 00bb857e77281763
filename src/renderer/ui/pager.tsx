import { Group } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { formatCount, formatCounted } from '../../shared/messages/figure-text.ts'
import { ActionButton } from './controls.tsx'

/** Which part of a list is shown, and the way to the parts before and after it; nothing where one page shows all. */
export function Pager(props: {
  offset: number
  /** Entries of a page. */
  limit: number
  total: number
  /** What an entry is, for counting. */
  noun: string
  onOffset: (offset: number) => void
}) {
  const { offset, limit, total } = props
  if (total <= limit && offset === 0) return null
  const last = Math.min(total, offset + limit)
  return (
    <Group component="nav" aria-label="Pages" justify="center" gap="sm" p="sm">
      <ActionButton
        label="Previous"
        small
        icon={IconChevronLeft}
        disabled={offset === 0}
        onClick={() => props.onOffset(Math.max(0, offset - limit))}
      />
      <span aria-live="polite">
        {formatCount(Math.min(total, offset + 1))} to {formatCount(last)} of{' '}
        {formatCounted(total, props.noun)}
      </span>
      <ActionButton
        label="Next"
        small
        rightSection={<IconChevronRight size="1rem" aria-hidden />}
        disabled={last >= total}
        onClick={() => props.onOffset(offset + limit)}
      />
    </Group>
  )
}
