import { ActionIcon, Group, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun, type TablerIcon } from '@tabler/icons-react'

const SCHEMES: { value: 'auto' | 'light' | 'dark'; name: string; icon: TablerIcon }[] = [
  { value: 'auto', name: 'Colours as the system has them', icon: IconDeviceDesktop },
  { value: 'light', name: 'Light colours', icon: IconSun },
  { value: 'dark', name: 'Dark colours', icon: IconMoon },
]

/** Light, dark, or as the system says; remembered on this machine. */
export function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Group gap={2}>
      {SCHEMES.map(({ value, name, icon: Icon }) => (
        <ActionIcon
          key={value}
          aria-label={name}
          title={name}
          aria-pressed={colorScheme === value}
          variant={colorScheme === value ? 'default' : 'subtle'}
          onClick={() => setColorScheme(value)}
        >
          <Icon size="1rem" aria-hidden />
        </ActionIcon>
      ))}
    </Group>
  )
}
