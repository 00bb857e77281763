import { Menu } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconChevronDown, type TablerIcon } from '@tabler/icons-react'
import { ActionButton } from '../controls.tsx'

/** Something that can be done on a screen besides its main action. */
export interface SecondaryAction {
  label: string
  onPress: () => void
  /** What it does, in more words. */
  title?: string
  icon?: TablerIcon
  isBusy?: boolean
}

/** Windows in which they would take a line of their own. */
const NARROW = '(max-width: 60rem)'

/** Actions as buttons side by side, or in one menu where the window is narrow. */
export function SecondaryActions({ actions }: { actions: readonly SecondaryAction[] }) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false })
  if (actions.length === 0) return null
  if (!isNarrow) {
    return actions.map(({ label, title, icon: Icon, isBusy = false, onPress }) => (
      <ActionButton
        label={label}
        key={label}
        loading={isBusy}
        title={title}
        leftSection={Icon && <Icon size="1rem" aria-hidden />}
        onClick={onPress}
      />
    ))
  }
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionButton
          label="More"
          loading={actions.some(({ isBusy }) => isBusy)}
          rightSection={<IconChevronDown size="1rem" aria-hidden />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, title, icon: Icon, onPress }) => (
          <Menu.Item
            key={label}
            title={title}
            leftSection={Icon && <Icon size="1rem" aria-hidden />}
            onClick={onPress}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
