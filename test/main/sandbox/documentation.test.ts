import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WORD_LIST } from '../../../src/main/sandbox/analysis/score-text.ts'
import { createSampleAppeals, DEFAULT_APPEALS } from '../../../src/main/sandbox/appeals.ts'
import { parseCallbacks } from '../../../src/main/sandbox/callbacks/callback-settings.ts'
import {
  DEFAULT_INDEXES,
  DEFAULT_RULES,
  DEFAULT_WATCHLISTS,
} from '../../../src/main/sandbox/rules/defaults.ts'
import { SANDBOX_ERRORS } from '../../../src/main/sandbox/sandbox-errors.ts'
import { LOGGED_ENDPOINTS } from '../../../src/main/sandbox/store/request-store.ts'
import { DEFAULT_BEHAVIOUR } from '../../../src/shared/sandbox/behaviour.ts'
import { CONTENT_CLASSES, ruleSchema } from '../../../src/shared/sandbox/content.ts'

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

  it('shows a valid rule', () => {
    const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    expect(ruleSchema.safeParse({ rule_id: 'example', ...JSON.parse(example) }).success).toBe(true)
  })

  it('names every endpoint of the request log, and every custom index and appeal of a new sandbox', () => {
    for (const name of [...LOGGED_ENDPOINTS, ...DEFAULT_INDEXES]) expect(page).toContain(`\`${name}\``)
    for (const { appeal_id } of createSampleAppeals(DEFAULT_APPEALS))
      expect(page).toContain(`| \`${appeal_id}\` |`)
  })

  it('shows valid callback settings', () => {
    const [, example = ''] = /--callbacks "([^"]+)"/.exec(page) ?? []
    expect(parseCallbacks(example)).toMatchObject({ doubleShare: 0.05, lateMs: 2000, shuffleMs: 500 })
    const rows = page.slice(
      page.indexOf('| part | meaning'),
      page.indexOf('`early`, `late` and `drop` exclude'),
    )
    for (const part of Object.keys(parseCallbacks('')).map((name) => name.replace(/(Share|Ms)$/, ''))) {
      expect(rows).toMatch(new RegExp(`^\\| \`${part}[=\`]`, 'm'))
    }
  })

  it('names every setting of the behaviour', () => {
    for (const name of Object.keys(DEFAULT_BEHAVIOUR)) expect(page).toContain(`"${name}"`)
  })

  it('names every error code that a client can meet', () => {
    for (const code of Object.keys(SANDBOX_ERRORS)) {
      expect(page).toContain(`\`${code}\``)
    }
  })
})
