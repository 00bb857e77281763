import { expect, test } from 'vitest'
import { RuleCounts } from '../../../../src/main/engine/load/load-rules.ts'
import { startFaultServer, toTaskAnswer } from '../../../helpers/fault-server.ts'
import { openTestFolder } from '../../../helpers/test-folder.ts'
import { createLoadRuns } from './load-runs.ts'

test('the summary of a load test counts requests by triggered rule', async () => {
  const loads = createLoadRuns(openTestFolder())
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const spam = { rule_id: 'r1', rule_name: 'Spam' }
      const hate = { rule_id: 'r2', rule_name: 'Hate' }
      wire.send(200, toTaskAnswer(request, request.number % 4 === 0 ? [spam, hate] : [spam]))
    },
  })
  const { summary } = await loads.run(
    loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 }, requests: 12 }),
  )
  expect(summary).toMatchObject({ state: 'completed', requests: { succeeded: 12 } })
  expect(summary.triggered_rules).toEqual([
    { rule_id: 'r1', rule_name: 'Spam', rows: 12 },
    { rule_id: 'r2', rule_name: 'Hate', rows: 3 },
  ])
})

test('a rule that is renamed during a load test has its newest name, and a warning names both', async () => {
  const loads = createLoadRuns(openTestFolder())
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      const rule = { rule_id: 'r1', rule_name: request.number === 1 ? 'Spam' : 'Junk' }
      // Without a name, its id stands in.
      const bare = { rule_id: 'r1' } as typeof rule
      wire.send(200, toTaskAnswer(request, [request.number < 3 ? rule : bare]))
    },
  })
  const plan = loads.createPlan(3, server.baseUrl, { pace: { kind: 'closed', concurrency: 1 }, requests: 3 })
  const { summary } = await loads.run(plan)
  expect(summary.triggered_rules).toEqual([{ rule_id: 'r1', rule_name: 'Junk', rows: 3 }])
  expect(summary.warnings).toContainEqual({
    code: 'RULES_RENAMED',
    message: expect.stringContaining('a rule several names in this run: r1 ("Junk", "Spam").'),
  })
})

test('counts of rules are taken once, and for a limited number of rules', () => {
  const counts = new RuleCounts()
  const rule = (number: number) => ({ ruleId: `r${number}`, ruleName: `Rule ${number}` })
  counts.add([rule(1), rule(2)])
  counts.addCounts([{ ...rule(2), requests: 5 }])
  expect(counts.take()).toEqual([
    { ...rule(1), requests: 1 },
    { ...rule(2), requests: 6 },
  ])
  expect(counts.take()).toEqual([])
  counts.add(Array.from({ length: 3_000 }, (_, number) => rule(number)))
  expect(counts.take()).toHaveLength(1_000)
})
