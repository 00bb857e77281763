import { MantineProvider } from '@mantine/core'
import '@mantine/core/styles.layer.css'
import './ui/classes.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { rememberDraft, restoreDraft } from './app/draft.ts'
import { schemeManager } from './app/stored-settings.ts'
import { drawAnswersTogether, queryClient } from './bridge/client.ts'
import './ui/tokens.css'
import './ui/base.css'
import { theme, toMantineVariables } from './ui/theme.ts'

// The host puts a fresh nonce into the page; style elements created later need the same one.
const nonce = document.querySelector<HTMLElement>('script[nonce], link[nonce], style[nonce]')?.nonce ?? ''
setNonce(nonce)

drawAnswersTogether()
rememberDraft()
void restoreDraft()

const root = document.getElementById('root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={toMantineVariables}
        defaultColorScheme="auto"
        colorSchemeManager={schemeManager}
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queryClient}>
          <App />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
