import { describe, expect, it } from 'vitest'
import { indexAddRequestSchema } from '../../../src/shared/operations/index-add.ts'
import { indexRemoveRequestSchema } from '../../../src/shared/operations/index-remove.ts'
import { addTermSchema } from '../../../src/shared/operations/watchlist-add.ts'
import { updateTermSchema } from '../../../src/shared/operations/watchlist-update.ts'
import { appealResponseSchema } from '../../../src/shared/service/appeal.ts'
import { indexAddResponseSchema } from '../../helpers/answer-schemas.ts'

describe('watchlist terms', () => {
  it('may have 1024 characters and equally long notes, and no more', () => {
    const withTerm = (term: string, notes: string) => addTermSchema.safeParse({ term, notes }).success
    expect(withTerm('a'.repeat(1024), 'n'.repeat(1024))).toBe(true)
    expect(withTerm('a'.repeat(1025), 'n')).toBe(false)
    expect(withTerm('a', 'n'.repeat(1025))).toBe(false)
  })

  it('count an emoji as one character', () => {
    expect(addTermSchema.safeParse({ term: '😀'.repeat(1024) }).success).toBe(true)
  })

  it('have their notes cleared by null on update, not on add', () => {
    const cleared = { term: 'a', notes: null }
    expect(updateTermSchema.safeParse(cleared).success).toBe(true)
    expect(addTermSchema.safeParse(cleared).success).toBe(false)
  })
})

describe('custom index items', () => {
  it('are added by url or media, at least one of the two', () => {
    expect(indexAddRequestSchema.safeParse({ url: 'https://example.com/a.png' }).success).toBe(true)
    expect(indexAddRequestSchema.safeParse({ media: 'https://example.com/a.png' }).success).toBe(true)
    expect(indexAddRequestSchema.safeParse({ metadata: {} }).success).toBe(false)
  })

  it('are removed by their id', () => {
    expect(indexRemoveRequestSchema.safeParse({ custom_index_item_id: 'i1' }).success).toBe(true)
    expect(indexRemoveRequestSchema.safeParse({}).success).toBe(false)
  })

  it('come back with their id, the task and a message', () => {
    expect(indexAddResponseSchema.safeParse({ task_id: 't', message: 'ok' }).success).toBe(false)
  })
})

describe('an appeal', () => {
  it('may have no judgment and no original decision', () => {
    const appeal = { appeal_id: 'a', appeal: { appeal_status: 'In Review' }, original_decision: {} }
    expect(appealResponseSchema.parse(appeal)).toEqual(appeal)
  })

  it('may have a judgment whose fields are all optional, and a decision with two required fields', () => {
    const appeal = {
      appeal_id: 'a',
      appeal: { appeal_status: 'Reviewed', appeal_judgment: { overturned: true } },
      original_decision: { action_id: 'ban', display_name: 'Ban' },
    }
    expect(appealResponseSchema.parse(appeal)).toEqual(appeal)
    expect(
      appealResponseSchema.safeParse({ ...appeal, original_decision: { action_id: 'ban' } }).success,
    ).toBe(false)
    expect(appealResponseSchema.safeParse({ ...appeal, appeal: { appeal_status: 'Closed' } }).success).toBe(
      false,
    )
  })
})
