import { expect, it } from 'vitest'
import { PROBLEM_MESSAGES } from '../../../src/shared/messages/problem-messages.ts'
import type { ProblemCode } from '../../../src/shared/run/problem.ts'
import { firstOf } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

interface Case {
  cause: ProblemCode
  name: string
  content: string | Uint8Array
  args?: readonly string[]
  /** Values for the placeholders in capitals in an advice. */
  means?: Readonly<Record<string, string>>
  /** The expected advice besides `--accept`. */
  advice: readonly string[]
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const toCells = (...texts: readonly string[]) =>
  texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')

const CASES: readonly Case[] = [
  {
    cause: 'undecodable_bytes',
    name: 'bad.csv',
    content: latin1('user_id,text_data\nu1,h\xc3\xa9llo\nu2,caf\xe9\n'),
    args: ['--encoding', 'utf-8'],
    means: { NAME: 'windows-1252' },
    advice: ['--encoding NAME'],
  },
  {
    cause: 'undecodable_bytes',
    name: 'escape.jsonl',
    content: '{"user_id":"u1","text_data":"lone \\ud800 x"}\n',
    advice: [],
  },
  {
    cause: 'uncertain_encoding',
    name: 'short.csv',
    content: latin1('user_id,text_data\nu1,caf\xe9\n'),
    means: { NAME: 'windows-1252' },
    advice: ['--encoding NAME'],
  },
  {
    cause: 'hidden_rows',
    name: 'filter.xlsx',
    content: await createWorkbook({
      sheets: [
        {
          name: 'S',
          rows:
            `<row r="1">${toCells('user_id', 'text_data')}</row><row r="2">${toCells('u1', 'seen')}</row>` +
            `<row r="3" hidden="1">${toCells('u2', 'hidden')}</row>`,
        },
      ],
    }),
    advice: ['--rows all', '--rows visible'],
  },
  {
    cause: 'header_like_data',
    name: 'headless.csv',
    content: 'p1,u1,hello\np2,u2,how are you\np3,u3,fine\n',
    args: ['--map', 'user_id=2', '--map', 'text_data=3'],
    means: { NUMBER: '1' },
    advice: ['--no-header', '--header-row NUMBER'],
  },
  {
    cause: 'surplus_cells',
    name: 'unnamed.csv',
    content: 'user_id,text_data,\nu1,one,\nu2,two, and more\n',
    advice: [],
  },
  {
    cause: 'second_table',
    name: 'two.csv',
    content: 'user_id,text_data\nu1,one\nu2,two\n\nmoderator,decisions\nanna,12\nbob,13\n',
    advice: [],
  },
  {
    cause: 'cut_cell',
    name: 'cut.csv',
    content: `user_id,text_data\nu1,${'x'.repeat(32_767)}\n`,
    advice: [],
  },
  {
    cause: 'stated_encoding',
    name: 'utf-8.csv',
    content: 'user_id,text_data\nu1,caf\xe9\n',
    args: ['--encoding', 'windows-1252'],
    advice: [],
  },
  {
    cause: 'content_not_sent',
    name: 'posts.csv',
    content: 'author,body,url\nu1,hello there,https://a.test/x\nu2,what a day,https://a.test/y\n',
    advice: ['--map text_data=body'],
  },
  {
    cause: 'content_not_sent',
    name: 'gap.csv',
    content: 'user_id,text_data,,n\nu1,part one,part two,1\n',
    advice: ['--map text_data=3'],
  },
  {
    cause: 'rows_in_key',
    name: 'page.json',
    content: '{"user": "u1", "text": "a note", "results": [{"text": "one"}, {"text": "two"}]}',
    advice: ['--map text_data=text'],
  },
  {
    cause: 'several_urls',
    name: 'urls.csv',
    content: 'user_id,url\nu1,https://x.test/a?u=https://y.test\nu2,"https://x.test/a, https://x.test/b"\n',
    advice: [],
  },
  {
    cause: 'curly_quotes',
    name: 'curly.csv',
    content: 'user_id,text_data,note\nu1,“one, two”\nu2,three,x\n',
    advice: [],
  },
  {
    cause: 'escaped_line_break',
    name: 'continued.tsv',
    content: 'user_id\ttext_data\nu1\tfirst line\\\nsecond line\tx\nu2\tok\n',
    means: { CHARACTER: '\\' },
    advice: ['--escape CHARACTER', '--escape none'],
  },
  {
    cause: 'cut_by_line_break',
    name: 'cut.csv',
    content: 'user_id,text_data\nu1,first line\nsecond line\nu2,ok\n',
    advice: [],
  },
  {
    cause: 'invalid_before',
    name: 'failed.csv',
    content:
      'user_id,text_data,sluice_state,sluice_message\nu1,a b,invalid,must close the quote that it opens\nu2,ok,,\n',
    advice: [],
  },
  {
    cause: 'lost_id',
    name: 'lost.csv',
    content: 'user_id,text_data\n1.23457E+17,a\n1.23457E+17,b\n',
    advice: [],
  },
  {
    cause: 'other_sheets',
    name: 'months.xlsx',
    content: await createWorkbook({
      sheets: ['Jan', 'Feb'].map((name) => ({
        name,
        rows: `<row r="1">${toCells('user_id', 'text_data')}</row><row r="2">${toCells('u1', name)}</row>`,
      })),
    }),
    means: { NAME: 'Jan' },
    advice: ['--sheet NAME'],
  },
  {
    cause: 'id_precision',
    name: 'long.xlsx',
    content: await createWorkbook({
      sheets: [
        {
          name: 'S',
          rows:
            `<row r="1">${toCells('user_id', 'text_data')}</row>` +
            `<row r="2"><c><v>123456789012345678</v></c>${toCells('a')}</row>`,
        },
      ],
    }),
    advice: [],
  },
]

it('has an example of each cause that stops a run until it is accepted', () => {
  const stopping = Object.entries(PROBLEM_MESSAGES).flatMap(([code, entry]) =>
    'needs' in entry ? [code] : [],
  )
  // Not covered here: a line break that ends no record is an error; fixes belong in plan files, not options;
  // rows that may have been sent before need an earlier run (sent-before.test.ts); moved columns need a
  // stored mapping (numbered-columns.test.ts); and nothing writes to these files.
  const apart = [
    ...['stray_line_break', 'unfit_fix', 'maybe_sent', 'earlier_run_unread', 'moved_columns'],
    'source_changed',
  ]
  const others = stopping.filter((code) => !apart.includes(code))
  expect(new Set(CASES.map(({ cause }) => cause as string))).toEqual(new Set(others))
})

it.each(firstOf(3, CASES))(
  'following the advice about $cause in $name avoids the same question',
  async ({ cause, name, content, args = [], means = {}, advice }) => {
    const workspace = createTemporaryFolder()
    const source = writeSource(workspace, name, content)
    const check = (...more: readonly string[]) =>
      runInProcess(['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run', ...more], {
        workspace,
        env: { SLUICE_API_KEY: 'k' },
      })
    /** The warnings to confirm, each code on its own line. */
    const toConfirm = async (...more: readonly string[]) => {
      const { stdout } = await check(...more)
      return /To confirm before sending([\s\S]*?)(?:\n\n|$)/.exec(stdout)?.[1] ?? ''
    }
    const said = await toConfirm(...args)
    const { needs } = PROBLEM_MESSAGES[cause] as { needs: string }
    expect(said).toContain(`(${needs})`)
    const found = [
      ...said.matchAll(/--(?!accept)[a-z-]+(?: (?:NAME|NUMBER|CHARACTER|all|visible|none|\w+=\w+))?/g),
    ].map(([option]) => option)
    expect({ said, found: [...new Set(found)] }).toEqual({ said, found: [...advice] })
    for (const option of advice) {
      const [flag = '', value] = option.split(' ')
      const given = value === undefined ? [flag] : [flag, means[value] ?? value]
      const kept = args.flatMap((arg, at) => (at % 2 === 0 && arg !== flag ? args.slice(at, at + 2) : []))
      expect({ option, left: await toConfirm(...kept, ...given) }).toEqual({
        option,
        left: expect.not.stringContaining(`(${needs})`),
      })
    }
  },
)

it('offers UTF-8 for a text that is half UTF-8, and shows how each encoding reads it', async () => {
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'p.csv', latin1('user_id,text_data\nu1,h\xc3\xa9llo\nu2,caf\xe9\n'))
  const { stdout } = await runInProcess(
    ['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--json'],
    { workspace, env: { SLUICE_API_KEY: 'k' } },
  )
  const { message } = JSON.parse(stdout).to_accept[0]
  expect(message).toContain('`héllo caf\u{fffd}` in utf-8')
  const [, chosen] = /is read as (\S+),/.exec(message) ?? []
  expect(message).toMatch(new RegExp(`uncertain: the words are \`[^\`]+\` in ${chosen},`))
})
