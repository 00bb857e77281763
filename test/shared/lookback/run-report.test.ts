import { describe, expect, it } from 'vitest'
import { withoutQuotes } from '../../../src/shared/lookback/run-report.ts'

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
    expect(withoutQuotes(message, cells)).toBe(expected)
  })

  it('is nothing at all where letters cannot be compared place by place', () => {
    expect(withoutQuotes('İstanbul Buy cheap pills', cells)).toBe('…')
    expect(withoutQuotes('İstanbul', [''])).toBe('İstanbul')
  })
})
