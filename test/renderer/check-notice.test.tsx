import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { CheckNotice } from '../../src/renderer/features/connections/check-notice.tsx'
import type { ConnectionCheck } from '../../src/shared/service/connection-check.ts'

it.each([
  [400, 'Done: '],
  [200, 'Warning: '],
])('shows a key that is accepted at an address that answers %i as “%s”', (status, word) => {
  const check = { address: { kind: 'reached', status, durationMs: 3 }, key: { kind: 'accepted' } }
  const shown = renderToStaticMarkup(
    <MantineProvider>
      <CheckNotice check={check as ConnectionCheck} label={null} hasOtherKeys={false} />
    </MantineProvider>,
  )
  expect(shown).toContain(word)
  expect(shown).toContain('The service accepts the key')
})
