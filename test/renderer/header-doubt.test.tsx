import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { FIRST_OPERATION } from '../../src/renderer/app/draft.ts'
import { HeaderDoubt } from '../../src/renderer/features/source/preview.tsx'
import type { BridgePreview } from '../../src/shared/bridge/source.ts'

it('shows the name of the only column as untrusted text, whatever it contains', () => {
  const name = 'run `ls`\u202Enow'
  const preview = { header: true, columns: [name], format: 'csv', isHeaderDoubtful: false } as BridgePreview
  const shown = renderToStaticMarkup(
    <MantineProvider>
      <HeaderDoubt preview={preview} operation={FIRST_OPERATION} headerRow={undefined} onRow={() => {}} />
    </MantineProvider>,
  )
  expect(shown).toContain('No field is called')
  expect(shown).toContain('>run `ls`<')
  expect(shown).not.toContain('\u202E')
})
