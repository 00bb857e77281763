import { describe, expect, it } from 'vitest'
import { escapeMarkdown, formatMarkdown } from '../../../src/shared/report/markdown.ts'
import { bar, count, foreign, quote, share, text } from '../../../src/shared/report/report.ts'

describe('a report as Markdown', () => {
  it('has facts as a list, tables with their columns, and side remarks', () => {
    const drawn = formatMarkdown([
      {
        title: 'Rows',
        lines: [[{ text: 'completed', tone: 'strong' }, ' · 2 s'], '1. first'],
        warnings: ['slow'],
        facts: [
          { label: 'Requests', lines: ['10 sent', '1 retried'] },
          { label: 'Nothing' },
          {
            label: 'Rules',
            table: {
              columns: [foreign(''), count('rows'), share('share'), bar('')],
              rows: [
                ['spam|ham', 1200, 0.5, 1],
                [null, 1, 0.25, 1],
              ],
            },
            notes: ['and 3 more'],
          },
        ],
      },
      { title: 'Empty' },
    ])
    expect(drawn).toBe(`### Rows

**completed** · 2 s

1\\. first

> ⚠ slow

- **Requests:** 10 sent<br>1 retried

**Rules**

|  | rows | share |
| :-- | --: | --: |
| \`spam\\|ham\` | 1,200 | 50.0 % |
| – | 1 | 25.0 % |

_and 3 more_
`)
  })

  it('leaves out commands, but keeps what they would do', () => {
    const drawn = formatMarkdown([
      {
        tables: [
          {
            columns: [text('cause')],
            rows: [[{ text: 'refused', meaning: 'Send again:', command: 'sluice retry latest' }]],
          },
        ],
      },
    ])
    expect(drawn).toContain('| refused<br>Send again. |')
    expect(drawn).not.toContain('sluice retry')
  })

  it('takes nothing that others wrote for Markdown, HTML, a link or a mention', () => {
    const hostile = '# <img src=x> **bold** `code` [a](https://evil.test) @team #12 | \u202Eevil\n- item'
    const [line = ''] = formatMarkdown([{ lines: [hostile] }]).split('\n')
    expect(line).toBe(
      '\\# &lt;img src=x&gt; \\*\\*bold\\*\\* \\`code\\` \\[a\\](https<!-- -->://evil.test) @<!-- -->team \\#12 | \\\\u{202e}evil\\\\n- item',
    )
    expect(formatMarkdown([{ lines: [quote(hostile)] }])).toBe(
      '``# <img src=x> **bold** `code` [a](https://evil.test) @team #12 | \\u{202e}evil\\n- item``\n',
    )
    expect(formatMarkdown([{ lines: [quote('`')] }])).toBe('`` ` ``\n')
  })

  it('keeps names with underscores as they are', () => {
    expect(escapeMarkdown('http_req_duration of _all_')).toBe('http_req_duration of \\_all\\_')
  })
})
