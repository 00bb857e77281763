import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useRef } from 'react'
import { useHotkey } from '../../ui/use-hotkey.ts'

/** Searches the cells of all rows; `/` leads into it. */
export function SearchBox({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  useHotkey({ key: '/' }, () => input.current?.focus())
  return (
    <TextInput
      ref={input}
      aria-label="Search the cells"
      placeholder="Search  ( / )"
      leftSection={<IconSearch size="0.9rem" aria-hidden />}
      value={value}
      onChange={(event) => onValue(event.currentTarget.value)}
      rightSection={
        value === '' ? null : (
          <CloseButton size="xs" aria-label="Clear the search" onClick={() => onValue('')} />
        )
      }
    />
  )
}
