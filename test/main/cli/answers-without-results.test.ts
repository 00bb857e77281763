import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { DecisionComparison } from '../../../src/shared/lookback/comparison.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

it('warns of rows and requests whose answer says nothing of the content, and finds the rows', async () => {
  const folder = createTemporaryFolder()
  const source = join(folder, 'posts.csv')
  writeFileSync(source, 'post_id,user_id,text_data,truth\na,u,one,spam\nb,u,two,ok\nc,u,three,ok\n')
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const whole = toTaskAnswer(request, [])
      wire.send(200, request.body.includes('two') ? whole : { task_id: whole.task_id, message: 'accepted' })
    },
  })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const sent = await sluice('task', source, '--base-url', server.baseUrl)
  expect(sent.stdout.replaceAll(/\s+/g, ' ')).toContain(
    '2 rows succeeded by an answer with neither rules nor scores, such as an acknowledgement.',
  )
  const shown = JSON.parse((await sluice('show', 'latest', '--json')).stdout) as { warnings: unknown }
  expect(shown.warnings).toContainEqual(expect.objectContaining({ code: 'NO_RESULT' }))
  const found = await sluice(
    'sql',
    'latest',
    "SELECT row FROM rows WHERE answer = 'no_result'",
    '--format',
    'csv',
  )
  expect(found.stdout).toBe('row\r\n2\r\n4\r\n')
  const agreed = await sluice('verdict', 'latest', '2', 'agree')
  expect(agreed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('row 2 was answered without a result, so it has no triggered rules'),
  })
  const verdicts = writeSource(folder, 'verdicts.csv', 'row,sluice_verdict\n3,agree\n4,agree\n')
  expect(await sluice('verdict', 'latest', '--from', verdicts)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('row 3: its row of the run has no result'),
  })
  const judged = await sluice('evaluate', 'latest', '--label', 'truth', '--positive', 'spam=Spam', '--json')
  expect(JSON.parse(judged.stdout)).toMatchObject({
    rows: { evaluated: 1, without_answer: 2 },
    warnings: expect.arrayContaining([expect.stringMatching(/^2 rows succeeded by an answer with neither/)]),
  })
  await sluice('task', source, '--base-url', server.baseUrl, '--name', 'again')
  const compared = await sluice('compare', 'posts.csv', 'again')
  expect(compared.stdout.replaceAll(/\s+/g, ' ')).toContain(
    'B: 2 rows succeeded by an answer with neither rules nor scores, such as an acknowledgement. Whether a rule triggered for them is not known; no figure of a rule includes them.',
  )
  const trend = await sluice('trend', source)
  expect(trend.stdout).toMatch(/and 1 earlier run: 2 rows succeeded by an answer with neither/)
  const where = ['--base-url', server.baseUrl, '--concurrency', '1', '--requests', '6', '--json']
  const load = await sluice('load', source, ...where)
  expect((JSON.parse(load.stdout) as { warnings: unknown }).warnings).toContainEqual({
    code: 'NO_RESULT',
    message: expect.stringMatching(/^4 requests succeeded by an answer with neither rules nor scores/),
  })
})

it('compares no rules of answers without a result', async () => {
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.csv', 'post_id,user_id,text_data\na,u,one\nb,u,two\n')
  let hasResult = true
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const whole = toTaskAnswer(request, [{ rule_id: 'r1', rule_name: 'Spam' }])
      wire.send(200, hasResult ? whole : { task_id: whole.task_id })
    },
  })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const send = (name: string) => sluice('task', source, '--base-url', server.baseUrl, '--name', name)
  await send('with')
  hasResult = false
  await send('without')
  await send('again')
  const compare = async (a: string, b: string) => {
    const { code, stdout } = await sluice('compare', a, b, '--fail-if-changed', '1%', '--json')
    const { joined, unanswered, outcomes } = JSON.parse(stdout).decisions as DecisionComparison
    return { code, rules: joined.rules, decided: joined.decided, unanswered, outcomes: outcomes.listed }
  }
  expect(await compare('with', 'without')).toMatchObject({
    code: 99,
    rules: [{ both: 0, newly: 0, no_longer: 0 }],
    decided: 0,
    outcomes: [{ a: 'succeeded', b: 'no_result', rows: 2 }],
  })
  expect(await compare('without', 'again')).toMatchObject({ code: 98, decided: 0, unanswered: 2 })
})

it('warns of rows and requests whose answer lacks a requested model, and finds the rows', async () => {
  const folder = createTemporaryFolder()
  const rows = 'a,u,https://a.test/1,spam\nb,u,https://a.test/2,ok\n'
  const source = writeSource(folder, 'posts.csv', `post_id,user_id,url,truth\n${rows}`)
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const models = ['ocr', 'visual'].map((model) => ({ model, status: { code: '0' } }))
      const isWhole = request.body.includes('test/2')
      wire.send(200, { ...toTaskAnswer(request, []), models: isWhole ? models : models.slice(0, 1) })
    },
  })
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'a-key' } })
  const task = ['--api', 'v2', '--model', 'ocr', '--model', 'visual', '--base-url', server.baseUrl]
  const warning = (noun: string) => ({
    code: 'MISSING_MODELS',
    message: expect.stringMatching(new RegExp(`^\\d ${noun} succeeded by an answer that lacks a model`)),
  })
  const sent = JSON.parse((await sluice('task', source, ...task, '--json')).stdout) as { warnings: unknown }
  expect(sent.warnings).toContainEqual(warning('row'))
  const found = await sluice('export', 'latest', '-', '--answer', 'missing_models')
  expect(found.stdout.split('\r\n')).toHaveLength(3)
  expect(found.stdout).toContain('the answer lacks the results of visual')
  const judged = await sluice('evaluate', 'latest', '--label', 'truth', '--positive', 'spam=Spam', '--json')
  expect(JSON.parse(judged.stdout)).toMatchObject({
    warnings: expect.arrayContaining([expect.stringMatching(/^1 row succeeded by an answer that lacks/)]),
  })
  const load = await sluice('load', source, ...task, '--concurrency', '1', '--requests', '6', '--json')
  expect((JSON.parse(load.stdout) as { warnings: unknown }).warnings).toContainEqual(warning('requests'))
})
