import { SegmentedControl, Select } from '@mantine/core'
import {
  MEDIA_LOOKS,
  type MediaLook,
  type Settings,
  settingsSchema,
} from '../../../shared/bridge/settings.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { useChangeSettings } from '../../bridge/settings.ts'
import { SwitchField } from '../../ui/controls.tsx'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { SettingRow } from './setting-row.tsx'

const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

/** Light, dark, or as the system has it. */
export function AppearancePanel({ settings }: { settings: Settings }) {
  const change = useChangeSettings()
  return (
    <Panel title="Appearance" flush>
      <SettingRow
        label="Theme"
        description="System follows the colours of this computer."
        control={(ids) => (
          <SegmentedControl
            {...ids}
            data={THEMES}
            value={settings.theme}
            onChange={(theme) => change.mutate({ theme: settingsSchema.shape.theme.parse(theme) })}
          />
        )}
      />
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
    </Panel>
  )
}

const LOOK_WORDS: Record<MediaLook, string> = {
  hidden: 'Hidden',
  blurred: 'Greyscale, strongly blurred',
  soft: 'Greyscale, blurred',
  grey: 'Greyscale, sharp',
  colour: 'In colour, sharp',
}

const MEDIA_CHOICES = MEDIA_LOOKS.map((value) => ({ value, label: LOOK_WORDS[value] }))

const NEVER = 'never'
const HIDE_CHOICES = [
  { value: NEVER, label: 'Never' },
  ...[1, 5, 15, 60].map((minutes) => ({
    value: String(minutes),
    label: `After ${formatCounted(minutes, 'minute')}`,
  })),
]

/** How much of what users wrote and posted is seen before a person asks for it. */
export function ContentPanel({ settings }: { settings: Settings }) {
  const change = useChangeSettings()
  const { hideAfterMinutes } = settings
  const hideAfter = hideAfterMinutes === null ? NEVER : String(hideAfterMinutes)
  const isListed = HIDE_CHOICES.some(({ value }) => value === hideAfter)
  return (
    <Panel title="User content" aside="set what suits you" flush>
      <SettingRow
        label="Show texts without asking"
        description="Off: texts, terms and addresses of media are hidden on every screen until you reveal them, by row or all at once with “Show content”, for one visit."
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.showsContent}
            onValue={(showsContent) => change.mutate({ showsContent })}
          />
        )}
      />
      <SettingRow
        label="Pictures and videos start"
        description="M reveals more, step by step, with colour last. Shift with M goes back."
        control={(ids) => (
          <Select
            w="17rem"
            {...ids}
            data={MEDIA_CHOICES}
            value={settings.mediaLook}
            onChange={(look) => change.mutate({ mediaLook: settingsSchema.shape.mediaLook.parse(look) })}
          />
        )}
      />
      <SettingRow
        label="Keep what is revealed for the next row"
        description="Off: pictures and videos of each row start as set above."
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.keepsMediaStep}
            onValue={(keepsMediaStep) => change.mutate({ keepsMediaStep })}
          />
        )}
      />
      <SettingRow
        label="Videos start muted"
        description="Nothing plays before you press Play in any case."
        control={(ids) => (
          <SwitchField
            {...ids}
            checked={settings.startsMuted}
            onValue={(startsMuted) => change.mutate({ startsMuted })}
          />
        )}
      />
      <SettingRow
        label="Hide everything again"
        description="After this long without keyboard or mouse input in this window."
        control={(ids) => (
          <Select
            w="17rem"
            {...ids}
            data={
              isListed
                ? HIDE_CHOICES
                : [...HIDE_CHOICES, { value: hideAfter, label: `After ${hideAfter} minutes` }]
            }
            value={hideAfter}
            onChange={(value) =>
              change.mutate({ hideAfterMinutes: value === null || value === NEVER ? null : Number(value) })
            }
          />
        )}
      />
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
    </Panel>
  )
}
