import { expect, it } from 'vitest'
import { sayUnsupported } from '../../../src/main/cli/unsupported-options.ts'

it.each([
  ['only "Posts" is read, not "--quote none". To send both, pass --sheet NAME', '--sheet'],
  ["the header's `--set` isn't a column. To send it, pass --map 'text_data=--quote'", '--map'],
  [`Pass --escape "\\" if it is, or --quote '"' if it is not`, '--quote or --escape'],
])('takes only what a text does not quote for advice: %s', (text, options) => {
  expect(sayUnsupported('plan', text)).toContain(`does not take ${options}:`)
})
