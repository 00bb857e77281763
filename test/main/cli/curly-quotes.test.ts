import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

async function check(content: string, args: readonly string[] = []) {
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'word.csv', content)
  const { stdout, stderr } = await runInProcess(
    ['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--json', ...args],
    { workspace, env: { SLUICE_API_KEY: 'k' } },
  )
  return { stderr, ...JSON.parse(stdout) }
}

it('says that curly quotes have no effect if a delimiter between them splits cells', async () => {
  const { problems } = await check('user_id,text_data\nu1,“hello, world”\nu2,“so, too”\nu3,a,b\n')
  expect(problems).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        code: 'surplus_cells',
        rows: 2,
        message: expect.stringMatching(/curly quotes.*replace them with " in the file/),
      }),
      expect.objectContaining({
        code: 'surplus_cells',
        rows: 1,
        message: 'must have at most 2 cells, like the header',
      }),
    ]),
  )
})

it('warns of ids in quotes, and sends them and the content unchanged', async () => {
  onlyInLongForm()
  const { problems, first_request: first } = await check(
    "user_id,text_data\n“u1”,“smart”\nu2,“fine”\n„u3“,x\n«u4»,y\n'u5',z\n",
  )
  expect(problems.filter(({ code }: { code: string }) => code === 'quotes_in_id')).toMatchObject([
    { field: 'user_id', severity: 'warning', rows: 4 },
  ])
  expect(first.body).toMatchObject({ user_id: '“u1”', text_data: '“smart”' })
})

it.each(firstOf(1, ['“user_id”,“text_data”', '„user_id“,„text_data“', '«user_id»,«text_data»']))(
  'header names match without curly quotes around them: %s',
  async (header) => {
    const { rows, first_request: first } = await check(`${header}\nu1,a\n`)
    expect(rows).toMatchObject({ sendable: 1 })
    expect(first.body).toMatchObject({ user_id: 'u1', text_data: 'a' })
  },
)

it('refuses a curly quote as the quote, since another closes it, and says what to do', async () => {
  const { error } = await check('user_id,text_data\nu1,“hello, world”\n', ['--quote', '“'])
  expect(error.message).toContain('curly quotes')
  expect(error.hint).toContain('Replace')
})

it.each(
  firstOf(2, [
    ['user_id,text_data,note\nu1,“hello, world”\nu2,“fine”,x\n', ','],
    ['user_id;text_data;note\nu1;„hallo; Welt“\nu2;„gut“;x\n', ';'],
    ['user_id,text_data,note\nu1,«salut, monde»\nu2,«bien»,x\n', ','],
    ['user_id,text_data,note\nu1,‘hello, world’\nu2,‘fine’,it’s\n', ','],
    ['user_id,text_data,note\nu1,»hallo, Welt«\nu2,»gut«,x\n', ','],
  ]),
)('asks before it sends a text that the delimiter split inside curly quotes: %j', async (content) => {
  const { to_accept: open, rows } = await check(content)
  expect(rows).toMatchObject({ sendable: 2 })
  expect(open).toMatchObject([{ accept: 'content_cut', code: 'curly_quotes', rows: 1 }])
})

it('does not mention curly quotes that close in their cell, or one that is never closed', async () => {
  const { problems } = await check(
    'user_id,text_data,note\nu1,“fine” he said,“good”\nu2,“open,end\nu3,it’s,‘tis the season\n',
  )
  expect(problems.map(({ code }: { code: string }) => code)).not.toContain('curly_quotes')
})

it('does not ask about rows in which a later cell has curly quotes of its own, or an apostrophe', async () => {
  onlyInLongForm()
  const { to_accept: open, rows } = await check(
    'text_data,user_id,note\n“Hello,u1,“x”\n‘90s music is great,u2,the boys’\n',
  )
  expect(rows).toMatchObject({ sendable: 2 })
  expect(open).toEqual([])
})

it('asks about a text with nested curly quotes that the delimiter split', async () => {
  onlyInLongForm()
  const { to_accept: open } = await check('user_id,text_data,note\nu1,“so he said, “hi” and left”\n')
  expect(open).toMatchObject([{ code: 'curly_quotes', rows: 1 }])
})
