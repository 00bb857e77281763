import { describe, expect, it } from 'vitest'
import {
  createContentRule,
  hideFound,
  isFoundContent,
  isQuotingContent,
  listContent,
  maskJson,
  maskQuoted,
} from '../../src/renderer/ui/content/user-content.tsx'
import { sayExpected } from '../../src/shared/messages/problem-messages.ts'

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

  it.each([
    ['post_id: must not contain `_` or `;`, found `a_b`; user_id: is required but empty', null],
    ['text_data: is too long, found `user: hi; bot: you idiot`', 'text_data: is too long, found …'],
    [
      'post_id: is wrong, found `a;b`; term: is known, found `x`',
      'post_id: is wrong, found `a;b`; term: is known, found …',
    ],
    ['url: must be an http or https URL, found `idiot`', 'url: must be an http or https URL, found …'],
    [
      'user_id: is required but empty; must have at most 3 cells, found `idiot`',
      'user_id: is required but empty; must have at most 3 cells, found …',
    ],
  ])('is what the reason of an invalid row quotes of it, but not an id: %s', (message, hidden) => {
    expect(hideFound(message)).toBe(hidden ?? message)
  })

  it('is not an id, metadata or a model name, however long', () => {
    expect([isContent(1, 'x'.repeat(60)), isContent(2, 'x'.repeat(200))]).toEqual([false, false])
  })

  it('is a text in a column of ids, however short, since an id is one word', () => {
    expect([isContent(1, 'you idiot'), isContent(1, 'x'.repeat(200))]).toEqual([true, true])
    expect([isContent(1, ' user-17 '), isContent(1, 'u'.repeat(36), 36)]).toEqual([false, false])
  })

  it('is everything that fills a url, except an address', () => {
    const ofMedia = createContentRule(['picture', 'models'], {
      url: { kind: 'column', column: 'picture' },
      models: { kind: 'column', column: 'models' },
    })
    expect(ofMedia(0, 'https://cdn.example.com/a.jpg?size=2')).toBe(false)
    expect([ofMedia(0, 'you idiot'), ofMedia(0, '你这个白痴'), ofMedia(0, 'data:text/plain,idiot')]).toEqual([
      true,
      true,
      true,
    ])
    expect(ofMedia(1, 'visual, ai_generated_media, text, ocr')).toBe(false)
  })

  it('is not an address in a column that fills nothing, even a long one', () => {
    expect(isContent(4, `https://cdn.example.com/${'a'.repeat(100)}.jpg`)).toBe(false)
  })

  it('includes the notes of a term, like the term', () => {
    const ofTerms = createContentRule(['term', 'notes'], {
      term: { kind: 'column', column: 'term' },
      notes: { kind: 'column', column: 'notes' },
    })
    expect([ofTerms(0, 'slur'), ofTerms(1, 'slur of bullies')]).toEqual([true, true])
  })

  it('includes prose in a column that fills nothing, but not numbers or labels', () => {
    expect(isContent(4, 'this reads like a sentence')).toBe(true)
    expect(isContent(4, 'cut here', 500)).toBe(true)
    expect([isContent(3, '1234567'), isContent(4, 'needs review')]).toEqual([false, false])
  })

  it("includes a column that a content field's template reads", () => {
    const byTemplate = createContentRule(columns, {
      text_data: { kind: 'template', template: '{{note}}: {{text}}' },
    })
    expect([byTemplate(0, 'a'), byTemplate(4, 'b'), byTemplate(1, 'c')]).toEqual([true, true, false])
  })
})

describe('JSON with its content masked', () => {
  it('keeps ids, numbers and the order of members unchanged', () => {
    expect(
      maskJson('{"user_id":"u\\"1","n":12345678901234567890,"text_data":"you \\"idiot\\"","user_id":"u2"}'),
    ).toBe('{"user_id":"u\\"1","n":12345678901234567890,"text_data":"hidden (11 characters)","user_id":"u2"}')
  })

  it('masks terms, their notes, and the text that a legacy answer repeats', () => {
    expect(
      maskJson('{"terms": [{"term": "slur", "notes": "n"}], "input": {"text" : "hi", "urls": ["a"]}}'),
    ).toBe(
      '{"terms": [{"term": "hidden (4 characters)", "notes": "hidden (1 character)"}], "input": {"text" : "hidden (2 characters)", "urls": ["a"]}}',
    )
  })

  it('masks each term that an answer lists separately', () => {
    expect(
      maskJson(
        '{"failed_terms": ["slur", "a \\"b\\""], "non_existent_terms": ["x"], "rules": ["n"], "text": []}',
      ),
    ).toBe(
      '{"failed_terms": ["hidden (4 characters)", "hidden (5 characters)"], "non_existent_terms": ["hidden (1 character)"], "rules": ["n"], "text": []}',
    )
  })

  it('shows ids and addresses, and masks texts in their place', () => {
    const address = '{"user_id":"u-1","url":"https://cdn.example.com/a.jpg"}'
    expect(maskJson(address)).toBe(address)
    expect(maskJson('{"user_id":"you idiot","url":"you idiot"}')).toBe(
      '{"user_id":"hidden (9 characters)","url":"hidden (9 characters)"}',
    )
  })

  it('removes from sentences what they quote of the request', () => {
    const request = '{"user_id":"u1","text_data":"I will attack you with a knife","models":["violence"]}'
    expect(
      maskJson(
        '{"message":"text_data is too rude: I will attack you wi","class":"violence","id":"u1"}',
        request,
      ),
    ).toBe('{"message":"text_data is too rude: …","class":"violence","id":"u1"}')
    expect(
      maskJson('{"input":"i","errors":["rude: with a \\"knife\\"", {"a": 1}]}', '{"term":"a \\"knife\\""}'),
    ).toBe('{"input":"i","errors":["rude: with …", {"a": 1}]}')
  })

  it('keeps names that are words of the request', () => {
    const answer = '{"classes":[{"class":"violence","score":3}],"rule_name":"Bullying"}'
    expect(maskJson(answer, '{"text_data":"bullying and violence are bad"}')).toBe(answer)
  })

  it('knows the content of a request', () => {
    expect(
      listContent('{"text_data":"a \\"b\\"","user_id":"u1","terms":[{"term":"slur","notes":"n"}]}'),
    ).toEqual(['a "b"', 'slur', 'n'])
    expect(listContent(null)).toEqual([])
  })

  it('masks non-JSON as a whole', () => {
    expect(maskJson('<html>502 you idiot')).toBe('hidden (19 characters)')
  })
})

describe('what problems found', () => {
  it('is masked, however short, if it is the text of cells whose column is unknown', () => {
    for (const code of [
      'surplus_cells',
      'record_in_quotes',
      'nul_character',
      'undecodable_bytes',
      'broken_quotes',
    ] as const) {
      expect(isFoundContent({ code, found: ' you fool' })).toBe(true)
    }
  })

  it('is shown if it is a count, a key or the header', () => {
    expect(isFoundContent({ code: 'ragged_row', found: '3 cells' })).toBe(false)
    expect(isFoundContent({ code: 'duplicate_key', found: 'user_id' })).toBe(false)
    expect(isFoundContent({ code: 'repeated_header', found: 'user_id | the text of the post | url' })).toBe(
      false,
    )
  })

  it('is shown if it is only white space and invisible characters, as escapes', () => {
    expect(isFoundContent({ code: 'empty', field: 'text_data', found: '\\u0020\\u0020\\u0020' })).toBe(false)
  })

  it('is masked according to its field if it has one', () => {
    expect(isFoundContent({ code: 'invisible_characters', field: 'user_id', found: 'u1' })).toBe(false)
    expect(isFoundContent({ code: 'too_long', field: 'text_data', found: 'hi' })).toBe(true)
  })
})

it('the words that show how an uncertain encoding reads are masked, those of other problems are not', () => {
  const args = { encoding: 'windows-1255', others: '`æøå` in windows-1252, `ζψε` in windows-1253' }
  expect(isQuotingContent({ code: 'uncertain_encoding' })).toBe(true)
  expect(isQuotingContent({ code: 'title_rows' })).toBe(false)
  expect(isFoundContent({ code: 'uncertain_encoding', found: 'זרו' })).toBe(true)
  expect(maskQuoted(sayExpected({ code: 'uncertain_encoding', args }, 'window'))).toBe(
    'is read as windows-1255, which is uncertain: the same words are hidden (3 characters) in windows-1252, hidden (3 characters) in windows-1253',
  )
})
