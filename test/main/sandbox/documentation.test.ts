import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CONTENT_CLASSES } from '../../../src/main/sandbox/analysis/content-classes.ts'
import { WORD_LIST } from '../../../src/main/sandbox/analysis/word-list.ts'
import { DEFAULT_RULES } from '../../../src/main/sandbox/rules/default-rules.ts'
import { DEFAULT_WATCHLISTS } from '../../../src/main/sandbox/rules/default-watchlists.ts'
import { ruleSchema } from '../../../src/main/sandbox/rules/rule.ts'
import { SANDBOX_ERRORS } from '../../../src/main/sandbox/sandbox-errors.ts'

const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')

describe("the sandbox's documentation", () => {
  it.each(CONTENT_CLASSES)('lists every word of %s', (className) => {
    expect(page).toContain(`| \`${className}\` | ${WORD_LIST[className].join(', ')} |`)
  })

  it('lists every default rule and watchlist term', () => {
    for (const rule of DEFAULT_RULES) expect(page).toContain(`| \`${rule.rule_id}\` | ${rule.rule_name} |`)
    for (const [name, terms] of Object.entries(DEFAULT_WATCHLISTS)) {
      expect(page).toContain(`\`${name}\``)
      for (const { term } of terms) expect(page).toContain(`\`${term}\``)
    }
  })

  it('shows a rule that is one', () => {
    const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    expect(ruleSchema.safeParse({ rule_id: 'example', ...JSON.parse(example) }).success).toBe(true)
  })

  it('names every error code that a client can meet', () => {
    for (const code of Object.keys(SANDBOX_ERRORS)) {
      expect(page).toContain(`\`${code}\``)
    }
  })
})
