import { expect, test } from 'vitest'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { createInProcessRuns } from '../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../helpers/test-folder.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

test('answers in another charset are decoded with it, and the run says so', async () => {
  const server = await startFaultServer({
    onRequest: (request, { socket, send }) => {
      const rules = [{ rule_id: 'r1', rule_name: 'Größe' }]
      const answer = JSON.stringify(toTaskAnswer(request, rules))
      if (request.body.includes('"text 1"')) return send(200, toTaskAnswer(request))
      const isDamaged = request.body.includes('"text 2"')
      const bytes = Buffer.from(answer, 'latin1')
      const type = isDamaged ? 'application/json' : 'application/json; charset=iso-8859-1'
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`)
      socket.write(bytes)
    },
  })
  const { runId, ended } = runs.start(createRunPlan(folder, 4, server.baseUrl))
  const summary = await ended
  expect(summary.rows).toMatchObject({ succeeded: 4 })
  expect(summary.warnings).toEqual([
    expect.objectContaining({ code: 'RULES_RENAMED' }),
    {
      code: 'ANSWERS_NOT_UTF8',
      message: 'The service sent 2 answers in windows-1252 instead of UTF-8. They were decoded as that.',
    },
    {
      code: 'ANSWERS_DAMAGED',
      message:
        'The service sent 1 answer with bytes that are not text in the charset of the answer. They show as \uFFFD.',
    },
  ])
  const responses = runs.read(runId, ({ db }) =>
    db
      .prepare('SELECT response FROM result ORDER BY row')
      .all()
      .map(({ response }) => String(response)),
  )
  expect(responses[1]).toContain('"Gr\uFFFD\uFFFDe"')
  expect(responses[2]).toContain('"Größe"')
})
