import { NativeSelect, TextInput } from '@mantine/core'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import type { Reading } from './reading.ts'
import { DELIMITERS, ENCODINGS, nameDelimiter } from './reading-options.ts'

const RECOGNISED = ''
const OTHER = 'other'

/** Encoding and delimiter of a text file; each says what was recognised and how surely. */
export function EncodingControls(props: {
  reading: Reading
  preview: BridgePreview | null
  hasDelimiter: boolean
  onReading: (reading: Reading) => void
}) {
  const { reading, preview, onReading } = props
  const isOther =
    reading.delimiter !== undefined && !DELIMITERS.some((known) => known.value === reading.delimiter)
  return (
    <>
      <NativeSelect
        label="Encoding"
        value={reading.encoding ?? RECOGNISED}
        onChange={(event) => {
          const { encoding: _dropped, ...rest } = reading
          const chosen = event.currentTarget.value
          onReading(chosen === RECOGNISED ? rest : { ...rest, encoding: chosen })
        }}
        data={[{ value: RECOGNISED, label: toDetected(preview, 'encoding') }, ...ENCODINGS]}
      />
      {props.hasDelimiter && (
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
            { value: RECOGNISED, label: toDetected(preview, 'delimiter') },
            ...DELIMITERS,
            { value: OTHER, label: 'another character' },
          ]}
        />
      )}
      {props.hasDelimiter && isOther && (
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
    </>
  )
}

const BY_WORDS: Record<BridgePreview['encodingBy'] | BridgePreview['delimiterBy'], string> = {
  given: '',
  bom: 'byte-order mark',
  strict: 'detected',
  ending: 'file extension',
  guess: 'guessed',
}

/** The choice of detection, with what was detected: `UTF-8 (detected)`. */
function toDetected(preview: BridgePreview | null, kind: 'encoding' | 'delimiter'): string {
  const by = kind === 'encoding' ? preview?.encodingBy : preview?.delimiterBy
  if (preview === null || by === undefined || by === 'given') return 'Detect'
  const name = kind === 'encoding' ? preview.encoding : nameDelimiter(preview.delimiter)
  return name === '' ? 'Detect' : `${name} (${BY_WORDS[by]})`
}
