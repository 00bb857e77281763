import { expect, it } from 'vitest'
import { createContentRule } from '../../src/renderer/ui/content/user-content.tsx'

/** Which cells of a column that fills no field are masked, judged by its first rows. */
function maskColumn(cells: readonly string[]): boolean[] {
  const isContent = createContentRule(
    ['other'],
    {},
    cells.map((cell) => ({ cells: [cell] })),
  )
  return cells.map((cell) => isContent(0, cell))
}

it.each([
  [['hi', 'ho']],
  [['idiot', 'fool', 'you are great']],
  [['你这个白痴', '谢谢']],
  [['🖕', '👍👍', 'ok']],
  [['call 911 now', 'ok']],
  [['text_data', 'hi', 'ho']],
])('a column that fills no field is masked if its first cells are words: %j', (cells) => {
  expect(maskColumn(cells)).toEqual(cells.map(() => true))
})

it.each([
  [['spam', 'ham', 'ham', 'spam', 'ham']],
  [['post_id', 'p1', 'p2']],
  [['2026-11-26', '26 Nov 2026', '26.11.2026']],
  [['a@example.com', 'https://cdn.example.com/a.jpg']],
  [['1', '2.5', '-3 %']],
  [['', '']],
])('a column of labels, ids, numbers, dates or addresses is shown: %j', (cells) => {
  expect(maskColumn(cells)).toEqual(cells.map(() => false))
})

it('an address in a column of words is shown, and a column that fills a field is not judged by its cells', () => {
  const rows = ['hello', 'thanks', 'https://cdn.example.com/a.jpg'].map((cell) => ({ cells: [cell] }))
  expect(createContentRule(['other'], {}, rows)(0, 'https://cdn.example.com/a.jpg')).toBe(false)
  const ids = createContentRule(['other'], { user_id: { kind: 'column', column: 'other' } }, rows)
  expect(ids(0, 'hello')).toBe(false)
})
