import { SegmentedControl, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun, type TablerIcon } from '@tabler/icons-react'

const SCHEMES: { value: 'auto' | 'light' | 'dark'; name: string; icon: TablerIcon }[] = [
  { value: 'auto', name: 'Follow the system', icon: IconDeviceDesktop },
  { value: 'light', name: 'Light', icon: IconSun },
  { value: 'dark', name: 'Dark', icon: IconMoon },
]

/** Light, dark, or as the system says; remembered on this machine. */
export function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <SegmentedControl
      aria-label="Colours"
      value={colorScheme}
      onChange={(value) => {
        const chosen = SCHEMES.find((scheme) => scheme.value === value)
        if (chosen) setColorScheme(chosen.value)
      }}
      data={SCHEMES.map(({ value, name, icon: Icon }) => ({
        value,
        label: (
          <span title={name}>
            <Icon size="1rem" aria-hidden />
            <VisuallyHidden>{name}</VisuallyHidden>
          </span>
        ),
      }))}
    />
  )
}
