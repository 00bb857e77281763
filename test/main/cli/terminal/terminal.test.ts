import { PassThrough } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import {
  cutToWidth,
  fitSegments,
  formatTable,
  padLeft,
  padRight,
  wrapWords,
} from '../../../../src/main/cli/terminal/layout.ts'
import { createOutput, toPrintable } from '../../../../src/main/cli/terminal/output.ts'
import { isUtf8Terminal } from '../../../../src/main/cli/terminal/terminal.ts'
import {
  formatBytes,
  formatCounted,
  formatDuration,
  formatFigure,
  formatShare,
} from '../../../../src/shared/messages/figure-text.ts'
import { count, text } from '../../../../src/shared/report/report.ts'
import { createPlainTerminal } from '../plain-terminal.ts'

describe('numbers for people', () => {
  it('never round a share to nothing or to all', () => {
    expect(formatShare(1, 100_000)).toBe('<0.1 %')
    expect(formatShare(99_999, 100_000)).toBe('>99.9 %')
    expect(formatShare(0, 10)).toBe('0 %')
    expect(formatShare(10, 10)).toBe('100 %')
    expect(formatShare(0, 0)).toBe('0 %')
  })

  it('agree with their noun', () => {
    expect(formatCounted(1, 'row')).toBe('1 row')
    expect(formatCounted(5572, 'row')).toBe('5,572 rows')
  })

  it('have three significant digits or so as milliseconds', () => {
    expect([0.84, 12.34, 99.94, 1204.4].map(formatFigure)).toEqual(['0.84', '12.3', '99.9', '1,204'])
  })

  it('grow units with durations and sizes', () => {
    expect([400, 26_100, 59_990, 185_000, 7_440_000].map(formatDuration)).toEqual([
      '400 ms',
      '26.1 s',
      '1 min',
      '3 min 05 s',
      '2 h 04 min',
    ])
    expect([7, 505_033, 1_500_000, 114_000_000].map(formatBytes)).toEqual([
      '7 B',
      '505 kB',
      '1.5 MB',
      '114 MB',
    ])
  })
})

/** What reaches a stream, which is a terminal or not, of one line. */
async function writeTo(line: string, isTTY: boolean): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY })
  await createOutput(stream).writeLine(line)
  stream.end()
  return readAll(stream)
}

describe('in a job of GitHub Actions, text', () => {
  const writeAll = async (...pieces: readonly (string | Uint8Array)[]) => {
    const stream = new PassThrough()
    const output = createOutput(stream, { isInJob: true })
    for (const piece of pieces) await output.write(piece)
    stream.end()
    return readAll(stream)
  }

  it('begins no line like a command of the runner, and holds none', async () => {
    expect(await writeAll('::error::a\n \t::b\r\n\n::c :: d\n##[group]e')).toBe(
      '\\u003a:error::a\n \t\\u003a:b\r\n\n\\u003a:c :: d\n#\\u0023[group]e',
    )
    expect(await writeAll('a ', '::b\n', '::c')).toBe('a ::b\n\\u003a:c')
    expect(await writeAll('a', '\n  ', '::b')).toBe('a\n  \\u003a:b')
    // Next line, which .NET takes for white space at the beginning of a line.
    expect(await writeAll('\u0085::a\n\u0085::b')).toBe('\u0085\\u003a:a\n\u0085\\u003a:b')
  })

  it('stays the same JSON, and bytes stay what they are', async () => {
    const document = JSON.stringify({ text: '##[error]::x' }, null, 2)
    expect(JSON.parse(await writeAll(document))).toEqual({ text: '##[error]::x' })
    expect(await writeAll(Buffer.from('::error::a\n'))).toBe('::error::a\n')
  })
})

describe('text from elsewhere', () => {
  it('cannot drive the terminal or hide in it', () => {
    expect(toPrintable('\u001b[2Jboo\r\n\u202egpj.exe\u200b')).toBe(
      '\\u{1b}[2Jboo\\r\\n\\u{202e}gpj.exe\\u{200b}',
    )
  })

  it('shows every control, format, tag and half character as an escape', () => {
    for (const [text, shown] of [
      ['a\u009b31m', 'a\\u{9b}31m'],
      ['soft\u00adhyphen', 'soft\\u{ad}hyphen'],
      ['tag\u{e0041}', 'tag\\u{e0041}'],
      ['half\ud83d', 'half\\u{d83d}'],
      ['joined\u200d', 'joined\\u{200d}'],
      ['line\u2028', 'line\\u{2028}'],
    ] as const) {
      expect(toPrintable(text)).toBe(shown)
    }
    expect(toPrintable('🙂')).toBe('🙂')
  })

  it('is escaped in JSON on a terminal, which stays the same JSON, and nowhere else', async () => {
    const value = { text: 'a\u009b31m\u202e\u00ad\u{e0041}\u007f "q" \n 🙂', 'key\u2066': ['\u001b[2J'] }
    const json = JSON.stringify(value, null, 2)
    const shown = await writeTo(json, true)
    expect(shown).not.toMatch(/[\p{Cf}\u007f-\u009f]/u)
    expect(shown).toContain('a\\u009b31m\\u202e\\u00ad\\udb40\\udc41')
    expect(JSON.parse(shown)).toEqual(value)
    expect(await writeTo(json, false)).toBe(`${json}\n`)
  })

  it('is otherwise shown as it is', () => {
    expect(toPrintable('naïve 日本 🙂 <script>')).toBe('naïve 日本 🙂 <script>')
  })
})

describe('widths', () => {
  it('count columns, not code units', () => {
    expect(stringWidth('abc')).toBe(3)
    expect(stringWidth('日本')).toBe(4)
    expect(stringWidth('e\u0301')).toBe(1)
    expect(stringWidth('👩‍👩‍👧')).toBe(2)
    expect(stringWidth('\u001b[31mred\u001b[39m')).toBe(3)
  })

  it('pad and cut between whole characters', () => {
    expect(padLeft('日本', 6)).toBe('  日本')
    expect(padRight('日本', 6)).toBe('日本  ')
    expect(cutToWidth('日本語です', 7, '…')).toBe('日本語…')
    expect(cutToWidth('short', 7, '…')).toBe('short')
  })
})

describe('a line that is too long', () => {
  it('loses its least important pieces first', () => {
    const segments = [
      { text: 'one', keep: 1 },
      { text: 'two', keep: 3 },
      { text: 'three', keep: 2 },
    ]
    expect(fitSegments(segments, 20, ' ')).toBe('one two three')
    expect(fitSegments(segments, 10, ' ')).toBe('two three')
    expect(fitSegments(segments, 4, ' ')).toBe('two')
    expect(fitSegments(segments, 1, ' ')).toBe('two')
  })

  it('breaks between words', () => {
    expect(wrapWords('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrapWords('immeasurable', 4)).toEqual(['immeasurable'])
  })
})

describe('a table', () => {
  const columns = [text('NAME', 4), count('ROWS')]

  it('lines numbers up on the right', () => {
    expect(
      formatTable(createPlainTerminal(80), {
        columns,
        rows: [
          ['a', 1],
          ['bb', 1_000],
        ],
      }),
    ).toEqual(['NAME   ROWS', 'a         1', 'bb    1,000'])
  })

  it('cuts what may be cut if the terminal is narrow', () => {
    expect(formatTable(createPlainTerminal(12), { columns, rows: [['a long name', 1]] })).toEqual([
      'NAME    ROWS',
      'a lon…     1',
    ])
  })

  it('keeps a very long cell whole in a file without widening the other rows', () => {
    const name = 'x'.repeat(50_000)
    const lines = formatTable(createPlainTerminal(Number.POSITIVE_INFINITY), {
      columns,
      rows: [
        [name, 1],
        ['a', 2],
      ],
    })
    expect(lines[1]).toBe(`${name}     1`)
    expect(lines[2]).toMatch(/^a {204,}2$/)
    expect(lines[2]?.length).toBeLessThan(250)
  })
})

describe('the character set of a terminal', () => {
  it('is detected from the locale', () => {
    expect(isUtf8Terminal({ LANG: 'en_US.UTF-8' }, 'linux')).toBe(true)
    expect(isUtf8Terminal({ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, 'linux')).toBe(false)
    expect(isUtf8Terminal({}, 'linux')).toBe(false)
    expect(isUtf8Terminal({}, 'darwin')).toBe(true)
    expect(isUtf8Terminal({ LANG: 'C.UTF-8', TERM: 'linux' }, 'linux')).toBe(false)
    expect(isUtf8Terminal({ WT_SESSION: 'x' }, 'win32')).toBe(true)
  })
})
