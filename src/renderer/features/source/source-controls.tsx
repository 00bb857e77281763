import { Group, Radio, Stack } from '@mantine/core'
import { useState } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { labelSheet } from '../../../shared/messages/mapping-messages.ts'
import { SOURCE_OPTIONS } from '../../../shared/options/source-options.ts'
import { getFormatTraits } from '../../../shared/plan/source-formats.ts'
import { isLoopback } from '../../ui/connection/destination.ts'
import { SelectField, SwitchField, TextField, WholeNumber } from '../../ui/controls.tsx'
import { OptionInputs } from '../../ui/options/option-inputs.tsx'
import { ENCODING_GROUPS, labelEncoding } from './encodings.ts'
import {
  changeReading,
  DELIMITERS,
  ESCAPES,
  findMediaGap,
  type MediaSettings,
  nameCharacter,
  QUOTES,
  type Reading,
  toTypedReading,
} from './reading.ts'

type ChangeReading = (change: Parameters<typeof changeReading>[1]) => void

/** How a source is read: the settings of its format, each with the detected value. */
export function SourceControls(props: {
  reading: Reading
  preview: BridgePreview | null
  onReading: (reading: Reading) => void
}) {
  const { reading, preview, onReading } = props
  const format = preview?.format ?? 'csv'
  if (format === 'folder') return null
  const change: ChangeReading = (part) => onReading(changeReading(reading, part))
  const { hasHeader, hasEncoding, hasDelimiter } = getFormatTraits(format)
  return (
    <Group gap="md" align="end" className="flex-wrap">
      {format === 'xlsx' && preview?.sheets !== undefined && (
        <SelectField
          label="Sheet"
          value={preview.sheet ?? ''}
          onValue={(sheet) => change({ sheet, headerRow: null })}
          data={preview.sheets.map((sheet, index) => ({
            value: sheet,
            label: labelSheet({
              name: sheet,
              rows: preview.sheetRows?.[index] ?? null,
              isHidden: preview.hiddenSheets?.includes(sheet),
            }),
          }))}
        />
      )}
      {format === 'xlsx' && (
        <OptionInputs
          table={SOURCE_OPTIONS}
          section="workbook"
          values={toTypedReading(reading)}
          onChange={change}
        />
      )}
      {(format === 'openai-batch' || reading.format !== undefined) && (
        <SelectField
          label="Format"
          value={reading.format ?? RECOGNISED}
          onValue={(value) => change({ format: JSON_FORMATS.find((one) => one === value) ?? null })}
          data={[
            {
              value: RECOGNISED,
              label: reading.format === undefined ? `${getFormatTraits(format).name} (detected)` : 'Detect',
            },
            ...JSON_FORMATS.map((one) => ({ value: one, label: getFormatTraits(one).name })),
          ]}
        />
      )}
      {hasEncoding && (
        <EncodingControls reading={reading} preview={preview} hasDelimiter={hasDelimiter} onChange={change} />
      )}
      {hasHeader && (
        <Group gap="md" align="end" wrap="nowrap">
          <SwitchField
            label="Header row"
            value={reading.header}
            onValue={(header) => change({ header, headerRow: null })}
            pb="0.35rem"
          />
          {reading.header && (
            <WholeNumber
              aria-label="Header in row"
              w="4.5rem"
              value={reading.headerRow ?? 1}
              max={1_000_000}
              onValue={(headerRow) => change({ headerRow: headerRow === 1 ? null : headerRow })}
            />
          )}
        </Group>
      )}
    </Group>
  )
}

const RECOGNISED = ''

const JSON_FORMATS = ['jsonl', 'openai-batch'] as const
const OTHER = 'other'

/** Encoding, delimiter, quote and escape of a text file, each with the detected value and its certainty. */
function EncodingControls(props: {
  reading: Reading
  preview: BridgePreview | null
  hasDelimiter: boolean
  onChange: ChangeReading
}) {
  const { reading, preview, onChange } = props
  return (
    <>
      <SelectField
        label="Encoding"
        value={reading.encoding ?? RECOGNISED}
        onValue={(value) => onChange({ encoding: value === RECOGNISED ? null : value })}
        data={[{ value: RECOGNISED, label: toDetectedEncoding(preview) }, ...ENCODING_GROUPS]}
      />
      {props.hasDelimiter &&
        CHARACTERS.map(({ name, label, choices }) => (
          <CharacterControl
            key={name}
            label={label}
            choices={choices}
            value={reading[name]}
            detected={toDetectedCharacter(preview, name, choices)}
            onValue={(value) => onChange({ [name]: value ?? null })}
          />
        ))}
    </>
  )
}

/** The characters that split a text into cells. */
const CHARACTERS = [
  { name: 'delimiter', label: 'Delimiter', choices: DELIMITERS },
  { name: 'quote', label: 'Quote', choices: QUOTES },
  { name: 'escape', label: 'Escape', choices: ESCAPES },
] as const

/** Initial character for "another character", until the person types one. */
const FIRST_OTHER = { Delimiter: ':', Quote: '`', Escape: '^' }

/** One of the characters, by name or typed; left to detection, it shows the detected one. */
function CharacterControl(props: {
  label: (typeof CHARACTERS)[number]['label']
  choices: readonly { value: string; label: string }[]
  value: string | undefined
  detected: string
  onValue: (value: string | undefined) => void
}) {
  const { label, choices, value, onValue } = props
  const isOther = value !== undefined && !choices.some((known) => known.value === value)
  return (
    <>
      <SelectField
        label={label}
        value={isOther ? OTHER : (value ?? RECOGNISED)}
        onValue={(chosen) =>
          onValue(chosen === RECOGNISED ? undefined : chosen === OTHER ? FIRST_OTHER[label] : chosen)
        }
        data={[
          { value: RECOGNISED, label: props.detected },
          ...choices,
          { value: OTHER, label: 'another character' },
        ]}
      />
      {isOther && (
        <TextField
          label={label === 'Delimiter' ? 'Character' : `${label} character`}
          w="5rem"
          maxLength={1}
          value={value}
          onValue={(typed) => {
            if (typed.length === 1) onValue(typed)
          }}
        />
      )}
    </>
  )
}

/** The choice of detection for several files, which may each be read differently. */
const IN_EACH_FILE = 'Detect in each file'

const BY_WORDS = {
  bom: 'byte-order mark',
  strict: 'detected',
  ending: 'file extension',
  guess: 'guessed',
  default: 'default',
}

/** The choice of detection, with the detected value: `UTF-8 (detected)`. */
function toDetected(name: string, by: keyof typeof BY_WORDS | 'given' | undefined): string {
  if (name === '' || by === undefined || by === 'given') return 'Detect'
  return name.endsWith(')') ? `${name}, ${BY_WORDS[by]}` : `${name} (${BY_WORDS[by]})`
}

function toDetectedEncoding(preview: BridgePreview | null): string {
  if (preview === null) return 'Detect'
  const { files, encoding, encodingBy, encodingReadings } = preview
  if (files !== undefined) return IN_EACH_FILE
  if (encodingReadings !== undefined) return `${labelEncoding(encoding)}, uncertain`
  return toDetected(labelEncoding(encoding), encodingBy)
}

function toDetectedCharacter(
  preview: BridgePreview | null,
  name: (typeof CHARACTERS)[number]['name'],
  choices: readonly { value: string; label: string }[],
): string {
  if (preview?.files !== undefined) return IN_EACH_FILE
  const character = preview?.[name]
  return character === undefined
    ? 'Detect'
    : toDetected(nameCharacter(choices, character), preview?.[`${name}By`])
}

/** Where the service finds a folder's media files: served by the app itself, or at addresses of their own. */
export function MediaControls(props: {
  media: MediaSettings
  /** Base URL of the service; null for the sandbox, which is on this machine. */
  serviceUrl: string | null
  onMedia: (media: MediaSettings) => void
}) {
  const { media, serviceUrl, onMedia } = props
  const [left, setLeft] = useState(false)
  const error = left ? findMediaGap(media) : null
  const isOut =
    media.kind === 'host' && media.publicUrl.trim() === '' && serviceUrl !== null && !isLoopback(serviceUrl)
  return (
    <Group gap="var(--space-3) var(--space-5)" align="flex-start">
      <Radio.Group
        label="Media files are found"
        value={media.kind}
        onChange={(kind) => {
          setLeft(false)
          onMedia(kind === 'template' ? { kind: 'template', template: '' } : { kind: 'host', publicUrl: '' })
        }}
      >
        <Group gap="lg" mt="xs">
          <Radio value="host" label="here: Sluice serves them while the run needs them" />
          <Radio value="template" label="at their own addresses" />
        </Group>
      </Radio.Group>
      <Stack gap={0}>
        {media.kind === 'host' ? (
          <TextField
            label="Public address"
            description="The address of a reverse proxy or tunnel that leads here. Leave empty if the service runs on this machine."
            placeholder="https://media.example.com"
            w="24rem"
            maw="100%"
            value={media.publicUrl}
            onValue={(publicUrl) => onMedia({ kind: 'host', publicUrl })}
            onBlur={() => setLeft(true)}
            error={error ?? (isOut ? 'The service cannot reach this machine without one' : undefined)}
            isLiteral
          />
        ) : (
          <TextField
            label="Address of each file"
            description="{{path}} stands for its path inside the folder."
            placeholder="https://cdn.example.com/{{path}}"
            w="24rem"
            maw="100%"
            value={media.template}
            onValue={(next) => onMedia({ kind: 'template', template: next })}
            onBlur={() => setLeft(true)}
            error={error}
            isLiteral
          />
        )}
      </Stack>
    </Group>
  )
}
