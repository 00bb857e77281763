import { describe, expect, it } from 'vitest'
import { createQuoteRemover } from '../../../src/shared/messages/quotes.ts'

describe('a message without what it quotes', () => {
  const cells = ['Buy cheap pills now', 'u1', 'spam', '']

  it.each([
    ['`Buy cheap pills now` is too long', '`…` is too long'],
    ['the text begins with BUY CHEAP PILLS and is refused', 'the text begins with … and is refused'],
    ['Buy cheap pills now', '…'],
    ['spam is not a label', '… is not a label'],
    ['spammer is not a label', 'spammer is not a label'],
    ['too many requests, wait 1 second', 'too many requests, wait 1 second'],
    ['', ''],
  ])('%j becomes %j', (message, expected) => {
    expect(createQuoteRemover(cells)(message)).toBe(expected)
  })

  it('is empty if letters cannot be compared one by one', () => {
    expect(createQuoteRemover(cells)('İstanbul Buy cheap pills')).toBe('…')
    expect(createQuoteRemover([''])('İstanbul')).toBe('İstanbul')
  })

  it('leaves out the longest part that a text has, wherever it is', () => {
    const remove = createQuoteRemover(['you idiots, you idiot and you idiot again'])
    expect(remove('refused: you idiot again!')).toBe('refused: …!')
  })
})
