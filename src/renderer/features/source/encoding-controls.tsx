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
        data={[{ value: RECOGNISED, label: `Recognise${nameFound(preview, 'encoding')}` }, ...ENCODINGS]}
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
            { value: RECOGNISED, label: `Recognise${nameFound(preview, 'delimiter')}` },
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
  return name === '' ? '' : `: ${name}${BY_WORDS[by]}`
}
