import { expect, test } from 'vitest'
import { RuleNames } from '../../../../src/main/engine/journal/found-writer.ts'
import { RULE_NAMES_MAX, toRunWarnings } from '../../../../src/shared/run/counts.ts'
import { openTestJournal } from './test-journal.ts'

test('however many names rules had, few are stored, and a warning shows fewer, cut and harmless', () => {
  const journal = openTestJournal()
  const names = new RuleNames(journal)
  const warn = () => {
    const ruleNames = journal.counters.entries('rule_name')
    return toRunWarnings({
      reuseEnded: undefined,
      redacted: undefined,
      texts: undefined,
      rows: undefined,
      ruleNames,
    })
  }
  const write = (ruleId: string, ...given: string[]) =>
    journal.transact('process', () => {
      for (const name of given) names.write(ruleId, name)
    })
  write('r1', 'r1', 'One', 'r1', 'One')
  expect(warn()).toEqual([])
  write('r2', 'a\u001b[2J', 'b'.repeat(50_000))
  expect(warn()).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(/a rule .*: r2 \("a\\u\{1b\}\[2J", "b{59}…"\)\. Results/),
    }),
  ])
  for (let number = 3; number < 100; number += 1) write(`r${number}`, 'one', 'other')
  expect(journal.counters.entries('rule_name').size).toBe(RULE_NAMES_MAX)
  expect(warn()).toEqual([
    expect.objectContaining({ message: expect.stringMatching(/ rules .*"\), and others\. Results/) }),
  ])
})
