import { expect, test } from 'vitest'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { readText } from './read-source.ts'

test('quotes escaped by a backslash are recognised, reported, and read as their text', () => {
  const source = readText(
    'post_id,user_id,text_data\np1,u1,"she said \\"go away\\", then a threat follows"\np2,u2,"plain"\n',
  )
  expect(source.cells).toEqual([
    ['p1', 'u1', 'she said "go away", then a threat follows'],
    ['p2', 'u2', 'plain'],
  ])
  expect(source.quoting).toEqual({ quote: '"', quoteBy: 'default', escape: '\\', escapeBy: 'guess' })
  expect(source.problems).toEqual([])
  expect(source.told).toEqual([
    { severity: 'warning', code: 'quotes_guessed', args: { quote: '"', escape: '\\' } },
  ])
})

test.each([
  ['"ends with a \\"quote\\""', 'ends with a "quote"'],
  ['"\\"","x"', '"'],
  ['"say \\"hi\\" and ""bye"""', 'say "hi" and "bye"'],
  ['"a \\\\ b \\"c\\" \\\\"', 'a \\ b "c" \\'],
  ['"C:\\new \\"folder\\""', 'C:\\new "folder"'],
  ['nice photo\\, \\"kill\\"', 'nice photo, "kill"'],
])('the backslash of an escape is not text: %s', (cell, text) => {
  const source = readText(`id,text,more\n1,${cell},\n`, { escape: '\\' })
  expect(source.cells[0]?.[1]).toBe(text)
  expect(source.told).toEqual([])
})

test('a backslash at the end of quoted cells is text if the usual reading fits', () => {
  const source = readText('id,path,note\n1,"C:\\dir\\","x"\n2,"D:\\","y"\n')
  expect(source.cells).toEqual([
    ['1', 'C:\\dir\\', 'x'],
    ['2', 'D:\\', 'y'],
  ])
  expect(source).toMatchObject({ quoting: { escape: '', escapeBy: 'default' }, problems: [], told: [] })
})

test('JSON in cells keeps its backslashes', () => {
  const source = readText('id,json\n1,"{""a"":""say \\""hi\\"", then""}"\n')
  expect(source.cells).toEqual([['1', '{"a":"say \\"hi\\", then"}']])
  expect(source.problems).toEqual([])
})

test('a backslash before a quote beyond the sample makes its row an error if it may be an escape', () => {
  const plain = '1,"plain text of some length"\n'.repeat(12_000)
  const source = readText(`id,text\n${plain}2,"say \\"go\\", then"\n3,"a\\",b"\n4,"C:\\"\n`)
  expect(source.quoting?.escapeBy).toBe('default')
  expect(source.problems).toEqual([
    'surplus_cells 12001 error',
    'broken_quotes 12001 error',
    'surplus_cells 12002 error',
    'broken_quotes 12002 error',
  ])
  expect(source.rows[12_000]?.problems.map(formatProblem).at(-1)).toContain('Pass --escape "\\" if it is')
})

test('a file in single quotes is recognised and reported', () => {
  const source = readText("'id','text'\n'1','hello, world'\n'2','it''s fine'\n")
  expect(source.cells).toEqual([
    ['1', 'hello, world'],
    ['2', "it's fine"],
  ])
  expect(source).toMatchObject({ quoting: { quote: "'", quoteBy: 'guess' }, problems: [] })
  expect(source.told).toMatchObject([{ code: 'quotes_guessed', args: { quote: "'", escape: '' } }])
})

test('texts in single quotes below a plain header are recognised by their delimiters', () => {
  const source = readText("id,text\n1,'nice photo, kill yourself'\n2,plain\n")
  expect(source.cells).toEqual([
    ['1', 'nice photo, kill yourself'],
    ['2', 'plain'],
  ])
})

test('apostrophes in texts are not quotes', () => {
  const source = readText("id,text\n1,'quoted'\n2,don't\n3,'tis\n")
  expect(source).toMatchObject({ quoting: { quote: '"', quoteBy: 'default' }, problems: [] })
  expect(source.cells.map((cells) => cells[1])).toEqual(["'quoted'", "don't", "'tis"])
})

test('single quotes that no reading fits make their rows errors instead of cutting them', () => {
  const source = readText("id,text\n1,'don't go, please'\n2,'fine'\n")
  expect(source.problems).toEqual(['surplus_cells 1 error'])
})

test('a stated quote is used, and so is stating none', () => {
  const text = 'id,text\n1,~a, b~\n2,"c"\n'
  expect(readText(text, { quote: '~' })).toMatchObject({
    cells: [
      ['1', 'a, b'],
      ['2', '"c"'],
    ],
    quoting: { quoteBy: 'given' },
    problems: [],
  })
  expect(readText('id,text\n1,"a\n2,5" pipe\n', { quote: 'none' }).cells).toEqual([
    ['1', '"a'],
    ['2', '5" pipe'],
  ])
  const literal = 'id,text\n1,"a \\"b\\" c"\n'
  expect(readText(literal, { escape: 'none' })).toMatchObject({
    cells: [['1', 'a \\"b\\" c']],
    problems: ['broken_quotes 1 warning'],
  })
})

test('stating no delimiter makes each line a cell', () => {
  const source = readText('text, all of it\nhello, world\n"quoted, too"\n', { delimiter: 'none' })
  expect(source).toMatchObject({ columns: ['text, all of it'], delimiter: '', delimiterBy: 'given' })
  expect(source.cells).toEqual([['hello, world'], ['quoted, too']])
})

test('surplus cells are kept as in the file, quotes included, to be joined again', () => {
  const source = readText('id,text\n1,he said,"no, way",and left\n')
  expect(source.cells).toEqual([['1', 'he said', '"no, way"', 'and left']])
})

test('a line break that a stated backslash escapes is part of its cell, as databases write it', () => {
  const text = 'user_id\ttext_data\nu1\tfirst line\\\nsecond line\twith tab\nu2\tok\n'
  const whole = text.replace('second line\twith', 'second line\\\twith')
  for (const quote of ['"', 'none']) {
    for (const newline of ['\n', '\r\n']) {
      const source = readText(whole.replaceAll('\n', newline), { escape: '\\', delimiter: '\t', quote })
      expect(source.cells).toEqual([
        ['u1', `first line${newline}second line\twith tab`],
        ['u2', 'ok'],
      ])
      expect(source.problems).toEqual([])
    }
  }
})

test('escaped line breaks are recognised if they make the records as wide as the header, and reported', () => {
  const source = readText('user_id,text_data,lang\nu1,line one\\\nline two,en\nu2,ok,de\n')
  expect(source.cells).toEqual([
    ['u1', 'line one\nline two', 'en'],
    ['u2', 'ok', 'de'],
  ])
  expect(source.quoting).toMatchObject({ escape: '\\', escapeBy: 'guess' })
  expect(source.told).toMatchObject([{ code: 'quotes_guessed' }])
})

test('a row that ends in a backslash is asked about, unless the escape is stated or the cell is quoted', () => {
  const text = 'user_id\ttext_data\nu1\tfirst line\\\nsecond line\twith tab\nu2\tok\n'
  expect(readText(text, { delimiter: '\t' }).problems).toEqual(['escaped_line_break 1 warning'])
  expect(readText(text, { delimiter: '\t', escape: 'none' }).problems).toEqual([])
  expect(readText('id,path\n1,"C:\\dir\\"\n2,C:\\dir\\\\\n3,x\n').problems).toEqual([])
})

test.each([
  ['1, "hello"\n2,bye\n', [1]],
  ['1,   "say ""hi"" now" \n2, "bye"\n', [1, 2]],
  ['1, "two\nlines"\n', [1]],
  [' "1","x"\n', [1]],
])('white space before the quotes around a cell makes its row an error: %j', (rows, errors) => {
  const { problems } = readText(`id,text\n${rows}`)
  expect(problems.filter((one) => one.startsWith('broken'))).toEqual(
    errors.map((row) => `broken_quotes ${row} error`),
  )
})

test.each([
  ['1,"a, ""b"" c, "\n2,"a, "\n', ['a, "b" c, ', 'a, ']],
  ['1, "Hello" he said\n2," ""x"""\n', [' "Hello" he said', ' "x"']],
])('white space before quotes that are text is not an error: %j', (rows, texts) => {
  const { cells, problems } = readText(`id,text\n${rows}`)
  expect([cells.map(([, text]) => text), problems]).toEqual([texts, []])
})

test('white space before quotes is read as written if quotes are stated to be text', () => {
  const { cells, problems } = readText('id,text\n1, "hello"\n', { quote: 'none' })
  expect([cells, problems]).toEqual([[['1', ' "hello"']], []])
})
