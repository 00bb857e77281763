import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { startRecordingService } from '../../helpers/recording-service.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createWorkbook } from '../engine/source/workbook-files.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const BY_NUMBER = ['--map', 'user_id=1', '--map', 'text_data=2']
const SWAPPED = 'what,who\nsecret text,u1\n'

async function withService(
  check: (service: {
    folder: string
    write: (name: string, text: string) => string
    run: (...args: string[]) => ReturnType<typeof runInProcess>
    task: (source: string, ...options: string[]) => ReturnType<typeof runInProcess>
    userIds: () => string[]
  }) => Promise<void>,
): Promise<void> {
  const service = await startRecordingService()
  const folder = createTemporaryFolder()
  const run = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'the-key' } })
  try {
    await check({
      folder,
      run,
      write: (name, text) => writeSource(folder, name, text),
      task: (source, ...options) => run('task', source, '--base-url', service.baseUrl, ...options),
      userIds: () => [...service.userIds.values()],
    })
  } finally {
    await service.close()
  }
}

it('refuses a saved mapping by numbers if a column at a number has another name, and says both names', () =>
  withService(async ({ write, run, task, userIds }) => {
    const first = write('first.csv', 'who,what\nu0,hello there\n')
    expect(await task(first, ...BY_NUMBER)).toMatchObject({ code: 0 })
    expect(await run('mapping', 'save', 'mm', 'latest')).toMatchObject({ code: 0 })

    const swapped = await task(write('swapped.csv', SWAPPED), '--mapping', 'mm')
    expect(swapped.code).toBe(2)
    const said = swapped.stdout + swapped.stderr
    expect(said).toContain('user_id: column 1 was called `who` and is called `what` now')
    expect(said).toContain('text_data: column 2 was called `what` and is called `who` now')
    const cased = await task(write('cased.csv', 'WHO,what\nu9,x\n'), '--mapping', 'mm')
    expect(cased.stdout + cased.stderr).toContain('column 1 was called `who` and is called `WHO` now')
    expect(userIds()).toEqual(['u0'])

    expect(await task(write('same.csv', 'who,what,more\nu2,text,1\n'), '--mapping', 'mm')).toMatchObject({
      code: 0,
    })
    const restated = ['--map', 'user_id=2', '--map', 'text_data=what']
    expect(await task(write('swapped.csv', SWAPPED), '--mapping', 'mm', ...restated)).toMatchObject({
      code: 0,
    })
    expect(userIds()).toEqual(['u0', 'u2', 'u1'])
  }))

it('refuses run-again and a saved plan by numbers if the columns of the source were swapped', () =>
  withService(async ({ folder, write, run, task, userIds }) => {
    onlyInLongForm()
    const source = write('posts.csv', 'who,what\nu0,hello there\n')
    const plan = join(folder, 'posts.plan.json')
    expect(await task(source, ...BY_NUMBER, '--save-plan', plan)).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(plan, 'utf8')).mapping.user_id).toEqual({
      kind: 'column',
      column: 1,
      name: 'who',
    })
    expect(await run('run-again', 'latest')).toMatchObject({ code: 0 })
    expect(await run('plan', plan, '--trust-plan')).toMatchObject({ code: 0 })
    write('posts.csv', SWAPPED)
    for (const command of [
      ['run-again', 'latest'],
      ['plan', plan, '--trust-plan'],
    ]) {
      const refused = await run(...command)
      expect(refused.code).toBe(2)
      expect(refused.stdout + refused.stderr).toContain('column 1 was called `who` and is called `what` now')
    }
    expect(userIds()).toEqual(['u0', 'u0', 'u0'])
  }))

it('asks about a kept number if several columns have its name now, but not if they had when it was stated', () =>
  withService(async ({ write, run, task }) => {
    onlyInLongForm()
    expect(await task(write('first.csv', 'who,what\nu0,hello there\n'), ...BY_NUMBER)).toMatchObject({
      code: 0,
    })
    expect(await run('mapping', 'save', 'mm', 'latest')).toMatchObject({ code: 0 })
    const doubled = write('doubled.csv', 'who,what,what\nu1,a,b\n')
    const asked = await task(doubled, '--mapping', 'mm')
    expect(asked.stdout + asked.stderr).toContain('is the name of columns 2 and 3')
    expect(await task(doubled, ...BY_NUMBER)).toMatchObject({ code: 0 })
    expect(await run('run-again', 'latest')).toMatchObject({ code: 0 })
  }))

it('warns that columns without names may have moved if a saved mapping finds another number of them', () =>
  withService(async ({ folder, write, run, task, userIds }) => {
    onlyInLongForm()
    const source = write('list.csv', 'u0,hello there\nu0,how are you\n')
    const plan = join(folder, 'list.plan.json')
    const headless = ['--no-header', ...BY_NUMBER]
    expect(await task(source, ...headless, '--save-plan', plan)).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(plan, 'utf8')).mapping.user_id).toEqual({
      kind: 'column',
      column: 1,
      name: 'Column 1',
      of: 2,
    })
    expect(await run('mapping', 'save', 'mm', 'latest')).toMatchObject({ code: 0 })
    expect(await run('plan', plan, '--trust-plan')).toMatchObject({ code: 0 })
    expect(userIds()).toEqual(['u0', 'u0', 'u0', 'u0'])

    write('list.csv', '2026-11-01,u1,a new text\n2026-11-02,u2,another text\n')
    for (const command of [
      ['plan', plan, '--trust-plan'],
      ['run-again', 'latest'],
      ['task', source, '--no-header', '--mapping', 'mm'],
    ]) {
      const asked = command[0] === 'task' ? await task(source, ...command.slice(2)) : await run(...command)
      const said = asked.stdout + asked.stderr
      expect(said).toContain('user_id is filled from column 1 of a file that had 2 columns and has 3 now')
      expect(said).toContain('content_cut')
      expect(asked.code).toBe(2)
    }
    const restated = ['--map', 'user_id=2', '--map', 'text_data=3']
    expect(await task(source, '--no-header', '--mapping', 'mm', ...restated)).toMatchObject({ code: 0 })
    expect(userIds().slice(4)).toEqual(['u1', 'u2'])
  }))

it('warns that columns without names may be swapped if a saved mapping finds as many of them', () =>
  withService(async ({ folder, write, run, task }) => {
    onlyInLongForm()
    const texts = Array.from({ length: 6 }, (_, at) => `this is the message with the number ${at}`)
    const source = write('list.csv', texts.map((text, at) => `u${at},${text}\n`).join(''))
    const plan = join(folder, 'list.plan.json')
    const said = ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr
    const first = await task(source, '--no-header', ...BY_NUMBER, '--save-plan', plan)
    expect(said(first)).not.toContain('not ids')
    expect(await run('mapping', 'save', 'mm', 'latest')).toMatchObject({ code: 0 })
    write('list.csv', texts.map((text, at) => `${text},u${at}\n`).join(''))
    for (const command of [
      ['plan', plan, '--trust-plan', '--dry-run'],
      ['run-again', 'latest', '--dry-run'],
      ['task', source, '--base-url', 'http://127.0.0.1:9', '--no-header', '--mapping', 'mm', '--dry-run'],
    ]) {
      const dry = said(await run(...command))
      expect(dry, command[0]).toContain('most of its first values are texts, not ids')
      expect(dry, command[0]).toContain('its first values look like ids, not texts')
    }
  }))

it('warns of texts in columns without names that are not sent, and sends the others', () =>
  withService(async ({ write, task, userIds }) => {
    const rows = ['u1,the text that is sent,and a second one beside it,7', 'u2,another text that is sent,,8']
    const source = write('list.csv', `${rows.join('\n')}\n`)
    const sent = await task(source, '--no-header', ...BY_NUMBER)
    expect(sent).toMatchObject({ code: 0 })
    expect(sent.stdout + sent.stderr).toContain('column 3 has texts that are not sent')
    expect(sent.stdout + sent.stderr).not.toContain('column 4 has')
    expect(userIds()).toEqual(['u1', 'u2'])
  }))

it('asks about files without a header if their numbers of columns differ', () =>
  withService(async ({ write, task, userIds }) => {
    const few = write('few.csv', 'u1,hello there\nu2,what a day\n')
    const more = write('more.csv', '7,u3,text of more\n8,u4,text of more\n')
    const options = ['--no-header', ...BY_NUMBER]
    const asked = await task(few, more, ...options)
    expect(asked.code).toBe(2)
    expect(asked.stderr).toContain(
      'user_id is filled from column 1 of files with different numbers of columns, more in more.csv than in others',
    )
    expect(userIds()).toEqual([])
    expect(await task(few, more, ...options, '--accept', 'content_cut')).toMatchObject({ code: 0 })
    const same = write('same.csv', 'u5,another text\n')
    expect(await task(few, same, ...options, '--name', 'same')).toMatchObject({ code: 0 })
  }))

it('asks about files without a header if a column looks like texts, or like ids, in some of them only', () =>
  withService(async ({ write, task, userIds }) => {
    const list = (toRow: (n: number) => string, from: number) =>
      Array.from({ length: 6 }, (_, n) => `${toRow(from + n)}\n`).join('')
    const toRow = (n: number) => `u${n},the text of post number ${n}`
    const first = write('first.csv', list(toRow, 1))
    const turned = write(
      'turned.csv',
      list((n) => toRow(n).split(',').reverse().join(','), 11),
    )
    const options = ['--no-header', ...BY_NUMBER]
    for (const [one, other] of [
      [first, turned],
      [turned, first],
    ] as const) {
      const asked = await task(one, other, ...options)
      expect(asked.code).toBe(2)
      const found = 'of files that differ: it looks like'
      expect(asked.stderr).toContain(`user_id is filled from column 1 ${found} texts in turned.csv`)
      expect(asked.stderr).toContain(`text_data is filled from column 2 ${found} ids in turned.csv`)
    }
    expect(userIds()).toEqual([])
    expect(await task(first, turned, ...options, '--accept', 'content_cut')).toMatchObject({ code: 0 })
    const same = write('same.csv', list(toRow, 21))
    expect(await task(first, same, ...options, '--name', 'same')).toMatchObject({ code: 0 })
  }))

it('takes no file for unlike the others whose cells are too few to tell', () =>
  withService(async ({ write, task }) => {
    const list = (toRow: (n: number) => string) =>
      Array.from({ length: 6 }, (_, n) => `${toRow(n)}\n`).join('')
    const words = write(
      'words.csv',
      list((n) => `u${n},word${n},`),
    )
    const pictures = write(
      'pictures.csv',
      list((n) => `v${n},,https://cdn.example/${n}.png`),
    )
    const sent = await task(words, pictures, '--no-header', ...BY_NUMBER, '--map', 'url=3')
    expect(sent.stderr).not.toContain('of files that differ')
    expect(sent.code).toBe(0)
  }))

it('refuses a number that is the name of another column, and says how to name either', () =>
  withService(async ({ write, task, userIds }) => {
    const source = write('frame.csv', '0,1,2\nu0,hello there,en\n')
    const refused = await task(source, ...BY_NUMBER)
    expect(refused.code).toBe(2)
    const said = refused.stdout + refused.stderr
    expect(said).toContain('user_id: column 1 is called `0`, and another is called `1`')
    expect(said).toContain("--set 'text_data={{2}}' or --set 'text_data={{1}}'")
    expect(await task(source, '--set', 'user_id={{0}}', '--set', 'text_data={{1}}')).toMatchObject({
      code: 0,
    })
    const years = write('years.csv', 'who,2024\nu1,hello again\n')
    const beyond = await task(years, '--map', 'user_id=who', '--map', 'text_data=2024')
    expect(beyond.stdout + beyond.stderr).toContain(
      'text_data: column 2024 does not exist, but one is called `2024`',
    )
    const counted = write('counted.csv', '1,2\nu2,hello\n')
    expect(await task(counted, ...BY_NUMBER)).toMatchObject({ code: 0 })
    expect(userIds()).toEqual(['u0', 'u2'])
  }))

it('prefers the sheet with the number as its name to the sheet at that position', () =>
  withService(async ({ folder, task, userIds }) => {
    const toRows = (...rows: string[][]) =>
      rows
        .map(
          (cells) =>
            `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`,
        )
        .join('')
    const toSheet = (name: string) => ({
      name,
      rows: toRows(['user_id', 'text_data'], [`u-${name}`, 'hello there']),
    })
    const source = join(folder, 'months.xlsx')
    writeFileSync(source, await createWorkbook({ sheets: ['Cover', '1', '2'].map(toSheet) }))
    for (const sheet of ['2', '3']) expect(await task(source, '--sheet', sheet)).toMatchObject({ code: 0 })
    expect(userIds()).toEqual(['u-2', 'u-2'])
    expect(await task(source, '--sheet', '0')).toMatchObject({ code: 2 })
  }))
