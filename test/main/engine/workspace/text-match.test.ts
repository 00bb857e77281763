import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toTextMatch } from '../../../../src/main/engine/workspace/text-match.ts'

/** Whether one text contains another, according to a database. */
function contains(text: string, search: string): boolean {
  const db = new DatabaseSync(':memory:')
  onTestFinished(() => db.close())
  const { sql, params } = toTextMatch(search)
  const statement = db.prepare(`SELECT ${sql('text')} AS found FROM (SELECT ? AS text)`)
  return statement.get(...params, text)?.['found'] === 1
}

describe('a search in texts', () => {
  it.each([
    ['Ärger im Büro', 'ÄRGER'],
    ['ÄRGER IM BÜRO', 'ärger im büro'],
    ['Привет, мир', 'ПРИВЕТ'],
    ['ΟΔΟΣ', 'οδος'],
    ['Straẞe', 'straße'],
    ['100 % Übel', '% üb'],
    ['a*b?c[d]é\\_', '*B?C[D]É\\_'],
    ['der Ärger', 'r ä'],
    ['漢字とÉ', '字とé'],
    ['10 \u212b', 'å'],
    ['😀 ÉTÉ', '😀 été'],
    ['plain', 'PLAIN'],
  ])('finds in %s the text %s, in either case', (text, search) => {
    expect(contains(text, search)).toBe(true)
  })

  it.each([
    ['Arger', 'ÄRGER'],
    ['Strasse', 'straße'],
    ['aXbé', 'a*bÉ'],
    ['axbé', 'a_bé'],
    ['kiz', 'kız'],
  ])('does not find in %s the text %s', (text, search) => {
    expect(contains(text, search)).toBe(false)
  })
})
