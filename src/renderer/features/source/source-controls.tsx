import { Group, NativeSelect, Switch, TextInput } from '@mantine/core'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { DELIMITERS, ENCODINGS, nameDelimiter } from './reading-options.ts'
import styles from './source.module.css'

/** How a file is read, as far as the person says; what is left out is recognised. */
export interface Reading {
  header: boolean
  encoding?: string
  delimiter?: string
}

const RECOGNISED = ''
const OTHER = 'other'

/** Header, encoding and delimiter; each says what was recognised and how surely. */
export function SourceControls(props: {
  reading: Reading
  preview: BridgePreview | null
  onReading: (reading: Reading) => void
}) {
  const { reading, preview, onReading } = props
  const isOther =
    reading.delimiter !== undefined && !DELIMITERS.some((known) => known.value === reading.delimiter)
  return (
    <Group gap="md" align="end" className={styles.controls}>
      <NativeSelect
        label="Encoding"
        value={reading.encoding ?? RECOGNISED}
        onChange={(event) => {
          const { encoding: _dropped, ...rest } = reading
          const chosen = event.currentTarget.value
          onReading(chosen === RECOGNISED ? rest : { ...rest, encoding: chosen })
        }}
        data={[{ value: RECOGNISED, label: `Recognise${nameFound(preview, 'encoding')}` }, ...ENCODINGS]}
      />
      <NativeSelect
        label="Delimiter"
        value={isOther ? OTHER : (reading.delimiter ?? RECOGNISED)}
        onChange={(event) => {
          const { delimiter: _dropped, ...rest } = reading
          const chosen = event.currentTarget.value
          if (chosen === RECOGNISED) onReading(rest)
          else onReading({ ...rest, delimiter: chosen === OTHER ? ':' : chosen })
        }}
        data={[
          { value: RECOGNISED, label: `Recognise${nameFound(preview, 'delimiter')}` },
          ...DELIMITERS,
          { value: OTHER, label: 'another character' },
        ]}
      />
      {isOther && (
        <TextInput
          label="Character"
          w="5rem"
          maxLength={1}
          value={reading.delimiter ?? ''}
          onChange={(event) => {
            const typed = event.currentTarget.value
            if (typed.length === 1) onReading({ ...reading, delimiter: typed })
          }}
        />
      )}
      <Switch
        label="The first row names the columns"
        checked={reading.header}
        onChange={(event) => onReading({ ...reading, header: event.currentTarget.checked })}
        className={styles.headerSwitch}
      />
    </Group>
  )
}

const BY_WORDS: Record<BridgePreview['encodingBy'] | BridgePreview['delimiterBy'], string> = {
  given: '',
  bom: ', from its mark',
  strict: ', certain',
  ending: ', from the ending',
  guess: ', a guess',
}

function nameFound(preview: BridgePreview | null, kind: 'encoding' | 'delimiter'): string {
  if (preview === null) return ''
  const by = kind === 'encoding' ? preview.encodingBy : preview.delimiterBy
  if (by === 'given') return ''
  const name = kind === 'encoding' ? preview.encoding : nameDelimiter(preview.delimiter)
  return `: ${name}${BY_WORDS[by]}`
}
