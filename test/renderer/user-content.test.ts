import { describe, expect, it } from 'vitest'
import { createContentRule, maskJson } from '../../src/renderer/ui/content/user-content.tsx'

describe('what is masked', () => {
  const columns = ['text', 'id', 'country', 'n', 'note']
  const isContent = createContentRule(columns, {
    text_data: { kind: 'column', column: 'text' },
    post_id: { kind: 'column', column: 2 },
    'user_metadata.country': { kind: 'column', column: 'country' },
  })

  it('is every cell of a column that fills a content field, however short', () => {
    expect([isContent(0, '1'), isContent(0, 'you idiot')]).toEqual([true, true])
  })

  it('is neither an id nor metadata, however long', () => {
    expect([isContent(1, 'a b c d e f g'), isContent(2, 'x'.repeat(200))]).toEqual([false, false])
  })

  it('is a text of several words in a column of ids, which was probably swapped', () => {
    expect([isContent(1, 'this is the text of a row'), isContent(1, 'Jane van der Berg')]).toEqual([
      true,
      false,
    ])
  })

  it('is what reads like prose in a column that fills nothing, and neither numbers nor labels', () => {
    expect(isContent(4, 'this reads like a sentence')).toBe(true)
    expect(isContent(4, 'cut here', 500)).toBe(true)
    expect([isContent(3, '1234567'), isContent(4, 'needs review')]).toEqual([false, false])
  })

  it('is a column that a template of a content field reads', () => {
    const byTemplate = createContentRule(columns, {
      text_data: { kind: 'template', template: '{{note}}: {{text}}' },
    })
    expect([byTemplate(0, 'a'), byTemplate(4, 'b'), byTemplate(1, 'c')]).toEqual([true, true, false])
  })
})

describe('JSON with its content masked', () => {
  it('keeps ids, numbers and the order of members as they are', () => {
    expect(
      maskJson('{"user_id":"u\\"1","n":12345678901234567890,"text_data":"you \\"idiot\\"","user_id":"u2"}'),
    ).toBe('{"user_id":"u\\"1","n":12345678901234567890,"text_data":"hidden (11 characters)","user_id":"u2"}')
  })

  it('masks terms, and the text that a legacy answer repeats', () => {
    expect(
      maskJson('{"terms": [{"term": "slur", "notes": "n"}], "input": {"text" : "hi", "urls": ["a"]}}'),
    ).toBe(
      '{"terms": [{"term": "hidden (4 characters)", "notes": "n"}], "input": {"text" : "hidden (2 characters)", "urls": ["a"]}}',
    )
  })

  it('masks each term that an answer lists separately', () => {
    expect(
      maskJson(
        '{"failed_terms": ["slur", "a \\"b\\""], "non_existent_terms": ["x"], "notes": ["n"], "text": []}',
      ),
    ).toBe(
      '{"failed_terms": ["hidden (4 characters)", "hidden (5 characters)"], "non_existent_terms": ["hidden (1 character)"], "notes": ["n"], "text": []}',
    )
  })

  it('masks what is not JSON as a whole', () => {
    expect(maskJson('<html>502 you idiot')).toBe('hidden (19 characters)')
  })
})
