import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { WaitingRun } from '../../src/renderer/ui/runs/waiting-run.tsx'
import type { RunSummary } from '../../src/shared/run/run.ts'

const RUN = { rows: { read: 2, invalid: 0, not_sent: 2, skipped: 0 } } as RunSummary

function draw(isUnclear: boolean): string {
  return renderToStaticMarkup(
    <MantineProvider>
      <WaitingRun
        waiting={{ run: RUN, problems: [], open: [] }}
        isProduction={false}
        before={null}
        isLoadTest={false}
        busy
        error={null}
        isUnclear={isUnclear}
        onGiveUp={() => {}}
        onOpen={() => {}}
        onSend={() => {}}
      />
    </MantineProvider>,
  )
}

/** The text of the filled button, which also has the focus. */
function findMain(shown: string): string | undefined {
  const main = /<button[^>]*data-variant="filled"[^>]*>.*?<\/button>/.exec(shown)?.[0]
  expect(main).toContain('data-autofocus')
  return main?.replaceAll(/<[^>]*>/g, '')
}

it('says that nothing has been sent while that is certain', () => {
  const shown = draw(false)
  expect(shown).toContain('Nothing has been sent yet.')
  expect(shown).toContain('Do not send')
  expect(findMain(shown)).toBe('Send 2 rows')
})

it('says that rows may have been sent once an answer was lost, also while they are sent again', () => {
  const shown = draw(true)
  expect(shown).toContain('The rows may have been sent')
  expect(shown).not.toContain('Nothing has been sent yet.')
  expect(shown).not.toContain('Do not send')
  expect(shown).toContain('Send 2 rows')
  expect(findMain(shown)).toBe('Open the run')
})
