import { expect, test } from 'vitest'
import { sayPassedOver } from '../../../src/shared/messages/used-mapping-words.ts'

test('a column with spaces in its name is quoted in the option that adds it', () => {
  const source = { kind: 'column', column: 'link of Proof' } as const
  const said = sayPassedOver({
    field: 'text_data',
    column: 'Message text',
    kept: 'url',
    source,
    isStated: true,
  })
  expect(said).toContain("add --map 'text_data=Message text' as well")
})
