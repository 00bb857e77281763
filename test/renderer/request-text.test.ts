import { expect, it } from 'vitest'
import {
  findPlace,
  findRuleMarks,
  formatText,
  setMember,
} from '../../src/renderer/features/scratchpad/scratchpad.ts'
import type { ScratchProblem } from '../../src/shared/service/scratchpad.ts'

const toProblem = (part: Partial<ScratchProblem>): ScratchProblem => ({
  row: 1,
  severity: 'error',
  code: 'required',
  path: [],
  ...part,
})

it('finds the value that a problem is about, or the object that lacks it', () => {
  const text = '{\n  "watchlist": "w",\n  "terms": [\n    { "term": "a" },\n    { "notes": "n" }\n  ]\n}'
  const cut = (path: (string | number)[]) => {
    const { start, end, line } = findPlace(text, toProblem({ path }))
    return [line, text.slice(start, end)]
  }
  expect(cut(['watchlist'])).toEqual([2, '"w"'])
  expect(cut(['terms', 0, 'term'])).toEqual([4, '"a"'])
  expect(cut(['terms', 1, 'term'])).toEqual([5, '{ "notes": "n" }'])
  expect(cut(['missing'])).toEqual([1, '{'])
})

it('finds the character at which a text stops being JSON', () => {
  const text = '{"a": 1,\n "b" 2}'
  const broken = toProblem({ code: 'not_json', details: { line: 2, character: 6 } })
  const { start, end, line } = findPlace(text, broken)
  expect([line, text.slice(start, end)]).toEqual([2, '2'])
})

it('changes one member and its spacing, and no digit of the others', () => {
  const text = '{"post_id":"old","n":12345678901234567890.10}'
  expect(setMember(text, 'post_id', 'new')).toContain('"post_id":"new","n":12345678901234567890.10')
  expect(formatText(text)).toBe('{\n  "post_id": "old",\n  "n": 12345678901234567890.10\n}')
})

it('marks the names and ids of triggered rules, each occurrence once', () => {
  const text = '{"rule_id": "rule-spam", "rule_name": "Spam", "text": "Spam"}'
  const marks = findRuleMarks(text, [{ ruleId: 'rule-spam', ruleName: 'Spam' }])
  expect(marks.map(({ start, end }) => text.slice(start, end))).toEqual(['rule-spam', 'Spam', 'Spam'])
  expect(findRuleMarks(text, [])).toEqual([])
})
