import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMAND_NAMES } from '../../../src/main/cli/program.ts'
import { formatPage, HELP_TOPICS } from '../../../src/main/cli/topics.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createPlainTerminal } from './plain-terminal.ts'
import { runInProcess } from './run-in-process.ts'

const help = (...words: string[]) => runInProcess(['help', ...words], { workspace: createTemporaryFolder() })

describe('help TOPIC', () => {
  it.each(HELP_TOPICS)('prints the page about $name, which is no command', async ({ name, page }) => {
    expect(COMMAND_NAMES).not.toContain(name)
    const { code, stdout } = await help(name)
    const [heading = ''] = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8').split(
      '\n',
      1,
    )
    expect(code).toBe(0)
    expect(stdout.split('\n', 1)).toEqual([heading.replace('# ', '')])
    expect(stdout).not.toMatch(/\]\(|^```|^\||\*\*/m)
  })

  it('is listed by help, next to the commands', async () => {
    const { stdout } = await help()
    for (const { name, about } of HELP_TOPICS) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +${about}$`, 'm'))
    }
  })

  it('has a topic for each page about using Sluice', () => {
    const list = readFileSync(new URL('../../../docs/README.md', import.meta.url), 'utf8')
    const [, using = ''] = /## Using Sluice\n(.*?)\n## /s.exec(list) ?? []
    const pages = Array.from(using.matchAll(/^\| \[([\w-]+\.md)\]/gm), ([, page]) => page)
    expect(HELP_TOPICS.map(({ page }) => page).toSorted()).toEqual(pages.toSorted())
  })

  it.each([
    ['callback', 'callbacks'],
    ['exports.md', 'exports'],
    ['mapping.md', 'columns'],
    ['Load-Test', 'load-tests'],
    ['security', 'security'],
  ])('finds %s by the name of its page, in either number', async (typed, name) => {
    expect((await help(typed)).stdout).toBe((await help(name)).stdout)
  })

  it.each([
    [['exit-codes'], /^Exit codes\n/, 'command-line'],
    [['thresholds'], /^4 Thresholds\n|^\d+ Thresholds/, 'load-tests'],
    [['load-tests', 'reports'], /^8 Reports\n/, 'load-tests'],
    [['self-signed', 'nowhere-to-be-found'], null, null],
  ] as const)('shows a part of a page by its heading: %j', async (words, heading, topic) => {
    const { code, stdout, stderr } = await help(...words)
    if (heading === null) {
      expect([code, stderr]).toEqual([2, expect.stringContaining('unknown command or topic')])
      return
    }
    expect(stdout).toMatch(heading)
    expect(stdout).toContain(`help ${topic}\n`)
  })

  it('lists the places that have all the words, each as a command that shows it', async () => {
    const { code, stdout } = await help('retry-after')
    expect(code).toBe(0)
    const [first = ''] = stdout.split('\n').filter((line) => line.includes(' help '))
    const [topic = '', ...words] = first.replace(/.* help /, '').split(' ')
    const shown = await help(topic, ...words)
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(/retry.after/i)
  })

  it('is named by the help of the commands that it is about', async () => {
    expect((await help('load')).stdout).toMatch(/More: .*help load-tests\n/)
    expect((await help('mapping')).stdout).toMatch(/More: .*help columns\n/)
  })

  it('names what it does not know', async () => {
    const { code, stdout, stderr } = await help('nonsense')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain("unknown command or topic 'nonsense'")
  })

  it('asks for help about help itself, or once more for that of a topic, with --help', async () => {
    for (const flag of ['--help', '-h']) {
      expect((await help(flag)).stdout).toBe((await help()).stdout)
      expect(await help('exit-codes', flag)).toEqual(await help('exit-codes'))
    }
  })

  it('leaves help about commands as it is', async () => {
    expect((await help('sandbox')).stdout).toMatch(/^Usage: sluice sandbox /)
  })
})

describe('a page on a terminal', () => {
  it('is wrapped, with tables as lists and links as their words', () => {
    const page = `# A page

Some words that go on for more than one line,
see [exports.md](exports.md#a) or [this](https://example.com).

- an item that is **long** enough
  to be wrapped

| code | meaning |
|---|---|
| 0 | all rows, a\\|b |

| column | type | meaning |
|---|---|---|
| id | text | of the row |

\`\`\`
npm run -s sluice -- runs | head
\`\`\`
`
    expect(formatPage(createPlainTerminal(40), page)).toBe(`A page

Some words that go on for more than one
line, see help exports or this.

- an item that is long enough to be
  wrapped

  0
    all rows, a|b

  id
    type: text
    meaning: of the row

  npm run -s sluice -- runs | head
`)
  })
})
