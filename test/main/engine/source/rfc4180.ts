/** An independent CSV reader to check the real one against: one state machine, one character at a time. */
export function parseRfc4180(text: string, delimiter = ','): string[][] {
  const records: string[][] = []
  let record: string[] = []
  let cell = ''
  let state: 'start' | 'plain' | 'quoted' | 'quote' = 'start'
  const endCell = () => {
    record.push(cell)
    cell = ''
    state = 'start'
  }
  const endRecord = () => {
    endCell()
    records.push(record)
    record = []
  }
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? ''
    if (state === 'quoted') {
      if (character === '"') state = 'quote'
      else cell += character
    } else if (state === 'quote' && character === '"') {
      cell += '"'
      state = 'quoted'
    } else if (character === delimiter) endCell()
    else if (character === '\n') endRecord()
    else if (character === '\r' && text[index + 1] === '\n') {
      endRecord()
      index += 1
    } else if (state === 'start' && character === '"') state = 'quoted'
    else if (state === 'quote') throw new Error(`text behind a closing quote at ${index}`)
    else {
      cell += character
      state = 'plain'
    }
  }
  if (state !== 'start' || cell !== '' || record.length > 0) endRecord()
  return records
}
