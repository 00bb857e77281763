import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  type Analysis,
  analyseContent,
  findPersonalData,
} from '../../../src/main/sandbox/analysis/analyse-content.ts'
import { WORD_LIST } from '../../../src/main/sandbox/analysis/score-text.ts'
import { createWatchlistMatcher } from '../../../src/main/sandbox/analysis/watchlist-matcher.ts'
import { DEFAULT_RULES } from '../../../src/main/sandbox/rules/defaults.ts'
import { findTriggeredRules } from '../../../src/main/sandbox/submit-task.ts'
import { CONTENT_CLASSES } from '../../../src/shared/sandbox/content.ts'
import { measureProcessorMs } from '../../helpers/resource-use.ts'

function analyse(text: string): Analysis {
  return analyseContent({ kind: 'text', text }, () => [])
}

describe('class scores', () => {
  it('count different listed words, at most 3, in either case', () => {
    expect(analyse('Free').scores.spam).toBe(1)
    expect(analyse('free FREE free').scores.spam).toBe(1)
    expect(analyse('free prize').scores.spam).toBe(2)
    expect(analyse('claim your free cash prize now, urgent').scores.spam).toBe(3)
    expect(analyse('freedom').scores.spam).toBe(0)
  })

  it.each(CONTENT_CLASSES)('of %s follow the test phrases', (className) => {
    for (const score of [0, 1, 2, 3]) {
      const { scores } = analyse(`so SANDBOX:${className}:${score}, it is`)
      expect(scores).toEqual({ ...analyse('').scores, [className]: score })
    }
    const isIgnored = (phrase: string) => analyse(phrase).scores[className] < 2
    expect(isIgnored(`sandbox:${className}:4`)).toBe(true)
    expect(isIgnored(`sandbox:${className}:30`)).toBe(true)
  })

  it('are given for each span of a long text, and the spans cover it', () => {
    const text = `${'word '.repeat(300)}sandbox:hate:2 ${'word '.repeat(300)}`
    const { spans, scores } = analyse(text)
    expect(spans.length).toBeGreaterThan(2)
    expect(spans[0]?.start).toBe(0)
    expect(spans.at(-1)?.end).toBe(text.length)
    for (const [index, span] of spans.slice(1).entries()) expect(span.start).toBe(spans[index]?.end)
    const phrase = text.indexOf('sandbox')
    expect(spans.filter((span) => span.scores.hate > 0)).toEqual(
      spans.filter((span) => span.start <= phrase && phrase < span.end),
    )
    expect(scores.hate).toBe(2)
  })

  it('list every word in one class only', () => {
    const words = Object.values(WORD_LIST).flat()
    expect(new Set(words).size).toBe(words.length)
  })
})

describe('the language', () => {
  it.each([
    ['', 'EN'],
    ['ok', 'EN'],
    ['See you at the station, I have the tickets', 'EN'],
    ['¿Cómo está? Muy bien, gracias por todo', 'ES'],
    ['Olá, você não vem? Muito obrigado', 'PT'],
    ['Bonjour, je suis dans le train avec vous', 'FR'],
    ['Ich bin nicht zu Hause, aber du', 'DE'],
    ['Ciao, come sono gli altri? Grazie molto', 'IT'],
    ['Hallo, ik ben niet met het boek van dat meisje', 'NL'],
    ['Привет, как дела', 'RU'],
    ['今日はいい天気です', 'JA'],
    ['今天天气很好', 'ZH'],
    ['안녕하세요', 'KO'],
    ['مرحبا', 'AR'],
  ])('of "%s" is %s', (text, code) => {
    expect(analyse(text).language).toBe(code)
  })
})

describe('watchlist terms', () => {
  const matchTerms = createWatchlistMatcher(
    new Map([
      ['a', ['gift card', 'cash', '禁止', '🔥']],
      ['b', ['cash']],
    ]),
  )
  const find = (text: string) =>
    analyseContent({ kind: 'text', text }, matchTerms).terms.map(
      ({ watchlist, term }) => `${watchlist}:${term}`,
    )

  it('are found as whole words, in either case and whatever separates them', () => {
    expect(find('A GIFT-card!')).toEqual(['a:gift card'])
    expect(find('Cash and cash')).toEqual(['a:cash', 'b:cash'])
    expect(find('cashier, gift of a card')).toEqual([])
    expect(find('gift')).toEqual([])
  })

  it('are found anywhere if a script has no spaces or a term has no letters', () => {
    expect(find('ここは立入禁止です')).toEqual(['a:禁止'])
    expect(find('so🔥hot')).toEqual(['a:🔥'])
  })
})

describe('links and personal data', () => {
  it('are found with their position in the text', () => {
    expect(analyse('go to https://example.com/a?b=c, or (www.example.org).').urls).toEqual([
      'https://example.com/a?b=c',
      'www.example.org',
    ])
    const text = 'mail me@example.com or call 07123 456789 by 12/05'
    expect(
      findPersonalData(text).map(({ type, start_index, end_index }) => [
        type,
        text.slice(start_index, end_index),
      ]),
    ).toEqual([
      ['EMAIL_ADDRESS', 'me@example.com'],
      ['PHONE_NUMBER', '07123 456789'],
    ])
  })
})

describe('the analysis', () => {
  it.each([
    ['a letter', 'a'.repeat(1_000_000)],
    ['digits', '1 '.repeat(500_000)],
    ['test phrases', 'sandbox:hate:1'.repeat(70_000)],
    ['links', 'http://'.repeat(140_000)],
    ['brackets', `http://${')'.repeat(1_000_000)}`],
    ['an e-mail that never ends', `a@${'a.'.repeat(500_000)}`],
  ])('of a million characters of %s takes at most two seconds of processor time', (_what, text) => {
    const takenMs = measureProcessorMs(() => {
      analyse(text)
      findPersonalData(text.slice(0, 100_000))
    })
    expect(takenMs).toBeLessThan(2_000)
  })
})

describe('real messages', () => {
  const messages = readMessages()

  it.skipIf(messages === null)('labelled spam trigger rules far more often than the others', () => {
    const share = (label: string) => {
      const ofLabel = (messages ?? []).filter((message) => message.label === label)
      const flagged = ofLabel.filter(
        ({ text }) =>
          findTriggeredRules(DEFAULT_RULES, {
            analysis: analyse(text),
            contentVariant: null,
            matchedIndexes: [],
          }).length > 0,
      )
      return flagged.length / ofLabel.length
    }
    expect(share('spam')).toBeGreaterThan(0.4)
    expect(share('spam')).toBeGreaterThan(10 * share('ham'))
  })

  it.skipIf(messages !== null)('are not tested, since the file is absent', () => {
    expect(messages).toBeNull()
  })
})

/** Lines of the SMS Spam Collection, parsed well enough for counting; null if the file is absent. */
function readMessages(): { label: string; text: string }[] | null {
  let file: string
  try {
    file = readFileSync(new URL('../../../../shared/data/sms-spam.csv', import.meta.url), 'utf8')
  } catch {
    return null
  }
  return file
    .split(/\r?\n/)
    .map((line) => ({ label: line.slice(0, line.indexOf(',')), text: line.slice(line.indexOf(',') + 1) }))
    .filter(({ label }) => label === 'ham' || label === 'spam')
}
