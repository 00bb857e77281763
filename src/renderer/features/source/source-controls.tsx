import { Group, NativeSelect, NumberInput, Switch } from '@mantine/core'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { EncodingControls } from './encoding-controls.tsx'
import type { Reading } from './reading.ts'
import styles from './source.module.css'

/** How a source is read: what has a meaning for its format, each with what was recognised. */
export function SourceControls(props: {
  reading: Reading
  preview: BridgePreview | null
  onReading: (reading: Reading) => void
}) {
  const { reading, preview, onReading } = props
  const format = preview?.format ?? 'csv'
  if (format === 'folder') return null
  const hasHeader = format !== 'jsonl'
  return (
    <Group gap="md" align="end" className={styles.controls}>
      {format === 'xlsx' && preview?.sheets !== undefined && (
        <NativeSelect
          label="Sheet"
          value={preview.sheet ?? ''}
          onChange={(event) => {
            const { headerRow: _ofTheOther, ...rest } = reading
            onReading({ ...rest, sheet: event.currentTarget.value })
          }}
          data={preview.sheets}
        />
      )}
      {format !== 'xlsx' && (
        <EncodingControls
          reading={reading}
          preview={preview}
          hasDelimiter={format !== 'jsonl'}
          onReading={onReading}
        />
      )}
      {hasHeader && (
        <Switch
          label="A row names the columns"
          checked={reading.header}
          onChange={(event) => {
            const { headerRow: _none, ...rest } = reading
            onReading({ ...rest, header: event.currentTarget.checked })
          }}
          className={styles.headerSwitch}
        />
      )}
      {hasHeader && reading.header && (
        <NumberInput
          aria-label="Row that names the columns"
          w="4.5rem"
          value={reading.headerRow ?? 1}
          min={1}
          max={1_000_000}
          clampBehavior="strict"
          allowDecimal={false}
          onChange={(value) => {
            if (typeof value !== 'number' || value < 1) return
            const { headerRow: _old, ...rest } = reading
            onReading(value === 1 ? rest : { ...rest, headerRow: value })
          }}
        />
      )}
    </Group>
  )
}
