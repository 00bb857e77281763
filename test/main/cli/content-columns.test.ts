import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const KEY = 'the-key'

async function setUp(content: string) {
  const sandbox = await withSandbox({ apiKeys: [KEY] })
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', content)
  const send = (...args: string[]) =>
    runInProcess(['task', source, '--base-url', sandbox.baseUrl, ...args], {
      workspace,
      env: { SLUICE_API_KEY: KEY },
    })
  const tryOut = async (...args: string[]) => JSON.parse((await send('--dry-run', '--json', ...args)).stdout)
  const show = (...args: string[]) => runInProcess(args, { workspace })
  const countTasks = async () => (await sandbox.stats()).tasks
  return { send, tryOut, show, countTasks }
}

it.each([
  ['id,author,body,url,score\nt1_a,joe,first,https://reddit.com/r/x/1,5\n', 'body', 'first'],
  ['author,text,url\njoe,first,https://forum.example.com/p/1\n', 'text', 'first'],
  [
    'Ticket ID,Requester,Subject,Description,URL\n1,joe@x.com,Help,"I hate you",https://z.example/1\n',
    'Description',
    'I hate you',
  ],
])(
  'sends the text and not the url next to it, and asks before the url is lost, for %j',
  async (csv, column, text) => {
    onlyInLongForm()
    const { send, tryOut, countTasks } = await setUp(csv)
    const user = ['--set', 'user_id=u1']
    const found = await tryOut(...user)
    expect(found.first_request.body).toMatchObject({ text_data: text })
    expect(found.first_request.body).not.toHaveProperty('url')
    expect(found.to_accept).toMatchObject([{ accept: 'content_cut', code: 'content_not_sent', rows: 1 }])
    const refused = await send(...user)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(new RegExp(`--map text_data=${column}`))
    expect(await countTasks()).toBe(0)
    const stated = await send(...user, '--map', `text_data=${column}`)
    expect(stated.stderr).toMatch(/Column `url` is not sent.*--map url=url/is)
    expect(stated.code).toBe(0)
    expect(await countTasks()).toBe(1)
  },
)

it('sends the url alone if that is stated, and says which text is not sent', async () => {
  const { send, tryOut } = await setUp('user_id,text_data,url\nu1,first,https://x.example/1\n')
  const { first_request: first } = await tryOut('--map', 'url=url')
  expect(first.body).toMatchObject({ url: 'https://x.example/1' })
  expect(first.body).not.toHaveProperty('text_data')
  expect((await send('--map', 'url=url')).stderr).toMatch(/Column `text_data` is not sent/)
})

it('needs no answer if the url next to a guessed text is empty', async () => {
  onlyInLongForm()
  const { send, countTasks } = await setUp('user,message,URL\njoe,I will kill you,\namy,hello,\n')
  expect(await send()).toMatchObject({ code: 0 })
  expect(await countTasks()).toBe(2)
})

it('keeps sending whichever of text_data and url a row has if both columns have these names', async () => {
  onlyInLongForm()
  const { tryOut } = await setUp('user_id,text_data,url\nu1,first,\nu2,,https://x.example/1\n')
  expect(await tryOut()).toMatchObject({ rows: { sendable: 2 }, to_accept: [] })
})

it('asks before a second text next to a guessed one is lost, but not for numbers', async () => {
  const csv = (second: string) => `user_id,question,answer\nu1,How are you?,${second}\n`
  const lost = await setUp(csv('I hate you'))
  expect((await lost.tryOut()).to_accept).toMatchObject([{ accept: 'content_cut', rows: 1 }])
  expect((await (await setUp(csv('42'))).tryOut()).to_accept).toEqual([])
})

it('asks before a text that only later rows have is lost in favour of a url', async () => {
  const rows = Array.from(
    { length: 120 },
    (_, at) => `u1,${at > 110 ? 'late text' : ''},https://x.example/${at}`,
  )
  const { tryOut } = await setUp(`user_id,body,url\n${rows.join('\n')}\n`)
  const { rows: counted, to_accept: open } = await tryOut()
  expect(counted.sendable).toBe(120)
  expect(open).toMatchObject([{ accept: 'content_cut', rows: 9 }])
})

it.each(
  firstOf(2, [
    ['User ID,Text (required),Link\nu1,"I really hate this, you idiots",https://x.test/a.png\n'],
    ['user_id,avatar_url,remark\nu1,https://x.test/a.png,you are all complete idiots\n'],
    ['user_id,url,memo\nu1,https://x.test/a.png,you are all complete idiots\n'],
    ['user_id,link,内容\nu1,https://x.test/a.png,我真的很讨厌你们这些白痴\n'],
    [
      'user_id,comment,Verbatim\nu1,Help,you are all complete idiots\nu2,Refund,please send my money back now\n',
    ],
  ]),
)("asks before people's text is lost because of a guess, whatever its column is named: %j", async (csv) => {
  const { tryOut } = await setUp(csv)
  expect((await tryOut()).to_accept).toMatchObject([{ accept: 'content_cut', code: 'content_not_sent' }])
})

it.each([
  ['user_id,link,label\nu1,https://x.test/a.png,spam\n'],
  ['user_id,link,location\nu1,https://x.test/a.png,New York\nu2,https://x.test/b.png,Rio\n'],
  ['user_id,message,reason\nu1,you are all complete idiots,it was reported by several users\n'],
])('does not ask about short values, or about prose next to prose: %j', async (csv) => {
  onlyInLongForm()
  expect((await (await setUp(csv)).tryOut()).to_accept).toEqual([])
})

it('says that text_data is empty if only that is mapped, and that one of text_data and url is needed if both are', async () => {
  onlyInLongForm()
  const list = async (csv: string) =>
    (await (await setUp(csv)).tryOut()).problems
      .filter(({ severity }: { severity: string }) => severity === 'error')
      .map(({ code, field, message }: Record<string, string>) => [code, field, message])
  expect(await list('user_id,text_data\nu1,\nu2,hello\n')).toEqual([
    ['one_of', null, 'must have text_data, which is empty'],
  ])
  expect(await list('user_id,url\nu1,\nu2,https://x.example/1\n')).toEqual([
    ['one_of', null, 'must have url, which is empty'],
  ])
  expect(await list('user_id,text_data,url\nu1,,\nu2,hello,\n')).toEqual([
    ['one_of', null, expect.stringContaining('exactly one')],
  ])
})

it('says which column filled which field, and how, in the documents of a dry run and a run, in show and in the report', async () => {
  onlyInLongForm()
  const { tryOut, send, show } = await setUp('author,message,score,group_id\njoe,hello,5,g1\n')
  const args = ['--map', 'group_id=group_id']
  const mapping = {
    fields: [
      { field: 'group_id', column: 'group_id', by: 'stated' },
      { field: 'text_data', column: 'message', by: 'guess' },
      { field: 'user_id', column: 'author', by: 'guess' },
      { field: 'post_id', template: '{{run}}-{{row}}', by: 'default' },
    ],
    not_sent: ['score'],
  }
  const sorted = ({ fields, ...rest }: typeof mapping) => ({
    ...rest,
    fields: [...fields].sort((a, b) => a.field.localeCompare(b.field)),
  })
  expect(sorted((await tryOut(...args)).mapping)).toEqual(sorted(mapping))
  expect(sorted(JSON.parse((await send('--json', ...args)).stdout).mapping)).toEqual(sorted(mapping))
  expect((await show('show', 'latest')).stdout).toMatch(
    /Mapping[\s\S]*text_data: column `message` \(guessed\)/,
  )
  const report = join(createTemporaryFolder(), 'report.html')
  await show('report', 'latest', report)
  expect(readFileSync(report, 'utf8')).toMatch(/text_data: column.*message.*\(guessed\)/)
})

it("names an object's field that is used because of its name", async () => {
  onlyInLongForm()
  const { show } = await setUp('')
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.jsonl', '{"text": "t0", "user": {"id": "a0"}}\n')
  const { stderr } = await show('task', source, '--dry-run', '--base-url', 'http://127.0.0.1:1')
  expect(stderr).toContain('Using column `user.id` for user_id (by its name)')
})

it.each(firstOf(1, ['link', 'image_url', 'Photo', 'Media URLs', 'Attachments']))(
  'asks before addresses in a column called %s next to a guessed text are lost',
  async (name) => {
    const { tryOut } = await setUp(`author,message,${name}\njoe,first,https://x.example/1\namy,second,\n`)
    expect((await tryOut()).to_accept).toMatchObject([
      { accept: 'content_cut', code: 'content_not_sent', field: 'url', rows: 1 },
    ])
    expect((await tryOut('--map', 'text_data=message')).to_accept).toEqual([])
    const words = await setUp(`author,message,${name}\njoe,first,seen it\namy,second,\n`)
    expect((await words.tryOut()).to_accept).toEqual([])
  },
)

it('asks before texts and addresses inside objects are lost to a guessed text', async () => {
  onlyInLongForm()
  const { show } = await setUp('')
  const lines = [
    { user: 'u1', text: 'cut short…', extended: { full_text: 'cut short no more', lang: 'en' } },
    {
      user: 'u2',
      text: 'whole',
      extended: { lang: 'en' },
      body: { text: 'more', link: 'https://x.example/2' },
    },
    { user: 'u3', text: 'whole', body: { text: 'and more', score: 3 } },
  ]
  const source = writeSource(
    createTemporaryFolder(),
    'posts.jsonl',
    lines.map((line) => JSON.stringify(line)).join('\n'),
  )
  const tryOut = async (...args: string[]) =>
    JSON.parse(
      (await show('task', source, '--dry-run', '--json', '--base-url', 'http://127.0.0.1:1', ...args)).stdout,
    )
  const messages = (await tryOut()).to_accept.map(({ message, rows }: { message: string; rows: number }) => [
    /column `(.*?)`/.exec(message)?.[1],
    rows,
  ])
  expect(messages).toEqual(
    expect.arrayContaining([
      ['extended.full_text', 1],
      ['body.text', 2],
      ['body.link', 1],
    ]),
  )
  expect(messages).toHaveLength(3)
  expect((await tryOut('--map', 'text_data=text')).to_accept).toEqual([])
})

it.each(
  firstOf(1, [
    ['user_id,text_data,text_data\nu1,first,second\n', 'text_data (2)'],
    ['user_id,text_data,Text Data\nu1,first,second\n', 'Text Data'],
    ['user_id,url,URL\nu1,https://x.example/1,https://x.example/2\n', 'URL'],
  ]),
)("asks before a column's content is lost to another column of the same name: %j", async (csv, column) => {
  const { tryOut } = await setUp(csv)
  expect((await tryOut()).to_accept).toMatchObject([
    {
      accept: 'content_cut',
      code: 'content_not_sent',
      rows: 1,
      message: expect.stringContaining(`\`${column}\``),
    },
  ])
  const [, field] = csv.split('\n')[0]?.split(',') ?? []
  expect((await tryOut('--map', `${field}=2`)).to_accept).toEqual([])
})

it('does not ask about addresses of a person or of the post itself next to a guessed text', async () => {
  onlyInLongForm()
  const ofPerson = [
    'avatar_url',
    'profile_image_url',
    'user_photo',
    'author link',
    'site_icon_url',
    'logo_image',
  ]
  const ofPost = ['permalink_url', 'source_url', 'page_link', 'canonical_url', 'Tweet URL', 'message_link']
  const names = [...ofPerson, ...ofPost]
  const cells = names.map((_, at) => `https://x.example/${at}`)
  const { tryOut } = await setUp(`author,message,${names},author_description\njoe,first,${cells},I am joe\n`)
  expect((await tryOut()).to_accept).toEqual([])
})

it('asks about content that a person posted, or that a post quotes from a source', async () => {
  onlyInLongForm()
  const names = ['thumbnail_url', 'source_image', 'user_video', 'user_comment', 'source_text']
  const link = 'https://x.example/1'
  const { tryOut } = await setUp(`author,message,${names}\njoe,first,${link},${link},${link},I see,and so\n`)
  const said = (await tryOut()).to_accept.map(
    ({ message }: { message: string }) => /column `(.*?)`/.exec(message)?.[1],
  )
  expect(said.sort()).toEqual(names.sort())
})

it('does not ask about fields of objects that describe a person, but asks about what a person wrote', async () => {
  onlyInLongForm()
  const { show } = await setUp('')
  const link = 'https://x.example/joe'
  const line = {
    message: 'first',
    user: { id: 'u1', description: 'I live here', photo: link },
    author_info: { description: 'I live here', link },
    user_content: { text: 'and this' },
  }
  const source = writeSource(createTemporaryFolder(), 'posts.jsonl', JSON.stringify(line))
  const { stdout } = await show('task', source, '--dry-run', '--json', '--base-url', 'http://127.0.0.1:1')
  const { to_accept: open } = JSON.parse(stdout)
  expect(open).toMatchObject([
    { code: 'content_not_sent', message: expect.stringContaining('`user_content.text`') },
  ])
  expect(open).toHaveLength(1)
})

it('says that a column that is not sent looks like the field of another, and how many rows have it', async () => {
  onlyInLongForm()
  const { show } = await setUp('')
  const folder = createTemporaryFolder()
  const tryOut = async (name: string, text: string, ...args: string[]) => {
    const source = writeSource(folder, name, text)
    const to = ['--base-url', 'http://127.0.0.1:1', '--dry-run', '--json']
    const { stdout } = await show('task', source, ...to, ...args)
    return JSON.parse(stdout).problems.filter(({ code }: { code: string }) => code === 'alike_column')
  }
  const lines = [
    { user_id: 'u1', text_data: 'a', group_id: 'g1' },
    { user_id: 'u2', text_data: 'b', Group_ID: 'g2' },
    { user_id: 'u3', text_data: 'c', 'group-id': 'g3', group_id: 'g3' },
    { user_id: 'u4', text_data: 'd', 'group-id': null },
  ]
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  expect(await tryOut('groups.jsonl', text)).toMatchObject([
    {
      severity: 'warning',
      field: 'group_id',
      rows: 1,
      message:
        'column `Group_ID` is not sent, though it looks like `group_id`. Give both one name in the file, or pass --map group_id=COLUMN',
    },
  ])
  expect(await tryOut('groups.jsonl', text, '--map', 'group_id=group_id')).toEqual([])
  expect(await tryOut('users.csv', 'user,message,User \nu1,hi,w1\nu2,ho,w2\n')).toMatchObject([
    { field: 'user_id', rows: 2 },
  ])
})

it.each([
  ['ids', 't3_abc12', 't3_abc13'],
  ['permalinks', 'https://forum.example/p/1', 'https://forum.example/p/2'],
  ['paths', '/r/pics/comments/1abc/a_title/', '/r/pics/comments/1abd/other/'],
])('does not ask about a column with the name of a text that has %s', async (_, one, other) => {
  onlyInLongForm()
  const { tryOut } = await setUp(`user,message,Post\njoe,first,${one}\namy,second,${other}\n`)
  expect((await tryOut()).to_accept).toEqual([])
  const mixed = await setUp(`user,message,Post\njoe,first,${one}\namy,second,what I wrote\n`)
  expect((await mixed.tryOut()).to_accept).toMatchObject([{ code: 'content_not_sent', rows: 2 }])
})

it('does not guess a column as url if its values are not addresses, nor numbers as the text', async () => {
  onlyInLongForm()
  const { send } = await setUp('user,Email Address\njoe,joe@x.example\namy,amy@x.example\n')
  expect((await send()).stderr).toMatch(/text_data or url is required, but neither is mapped/)
  const { tryOut } = await setUp('user,Address,Photo link\njoe,Main St 1,https://x.example/1.png\n')
  expect((await tryOut()).first_request.body).toMatchObject({ url: 'https://x.example/1.png' })
  const counts = await setUp('user,Comments,Title text\njoe,12,hello\namy,7,there\n')
  expect((await counts.tryOut()).first_request.body).toMatchObject({ text_data: 'hello' })
})

it('counts a warning about unsent content only in rows that can be sent', async () => {
  onlyInLongForm()
  const { tryOut } = await setUp('user_id,message,link\n,first,https://x.example/1\nu2,second,\nu3,third,\n')
  const { rows, to_accept: open } = await tryOut()
  expect(rows).toMatchObject({ sendable: 2, invalid: 1 })
  expect(open).toEqual([])
})

it('judges a long run of underscores in a column that is not sent as quickly as other text', async () => {
  onlyInLongForm()
  const { tryOut } = await setUp(`user,message,Post\njoe,first,${'_'.repeat(500_000)} what I wrote\n`)
  expect((await tryOut()).to_accept).toMatchObject([{ code: 'content_not_sent', rows: 1 }])
})

it('reports texts that still have the apostrophe of an export with chosen columns', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data\nu1,=1+1 is two\nu2,hello\n')
  await sluice('task', source, '--base-url', sandbox.baseUrl)
  const check = async (name: string, ...options: string[]) => {
    await sluice('export', 'latest', join(folder, name), ...options)
    const { stdout } = await sluice(
      'task',
      join(folder, name),
      '--base-url',
      sandbox.baseUrl,
      '--dry-run',
      '--json',
    )
    const { problems } = JSON.parse(stdout) as { problems: { code: string; rows: number }[] }
    return problems.flatMap(({ code, rows }) => (code === 'guarded_text' ? [rows] : []))
  }
  expect(await check('chosen.csv', '--columns', 'user_id,text_data')).toEqual([1])
  expect(await check('lossless.csv', '--columns', 'user_id,text_data', '--lossless')).toEqual([])
  expect(await check('whole.csv')).toEqual([])
})
