import type { Command } from 'commander'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { toSluiceError } from '../../../shared/messages/errors.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import { resolveWorkspace } from '../engine-access.ts'
import { createIntegerParser } from '../options/parse-values.ts'
import { addExamples, addWorkspaceOption, type WorkspaceFlags } from '../options/shared-options.ts'

interface OpenFlags extends WorkspaceFlags {
  browser: boolean
  port: number
}

async function serveScreens(context: CliContext, flags: OpenFlags): Promise<void> {
  const { err, out } = context
  // Loaded only if it is needed: help and bad usage answer at once.
  const { findRenderer } = await import('../../web/find-renderer.ts')
  const { openWebShell } = await import('../../web/web-shell.ts')
  const rendererFolder = await findRenderer(() => err.writeLine('Building the window…'))
  const shell = await openWebShell({
    workspace: resolveWorkspace(flags.workspace, context.env),
    rendererFolder,
    openCommand: `${context.errTerminal.commandPrefix} open`,
    port: flags.port,
    lastingKeys: context.lastingKeys,
    async showConsent({ file, url }) {
      if (!flags.browser) return err.writeLine(`Production needs a confirmation: ${url}`)
      await err.writeLine(`Production needs a confirmation. Confirm it in the browser, or open ${file}`)
      await openInBrowser(file)
    },
  })
  const asked = Promise.withResolvers<void>()
  const stopWatching = watchInterrupts({
    first: () => asked.resolve(),
    second: () => process.exit(EXIT.interrupted),
  })
  const printEntry = async () => {
    if (flags.browser) {
      const file = await shell.createEntryFile()
      await out.writeLine(
        `Sluice is running at ${shell.origin}. Press Ctrl-C to stop. If your browser does not open, open ${file}`,
      )
      await openInBrowser(file)
    } else {
      await out.writeLine(shell.createEntryUrl())
      await err.writeLine(
        'Open this address in a browser within 10 minutes. It works once. Press Ctrl-C to stop.',
      )
    }
  }
  // A link works once and a session lasts a day: whoever sits at this terminal gets another link.
  const printNewEntry = () => {
    printEntry().catch((error: unknown) => err.writeLine(toSluiceError(error).message))
  }
  try {
    await printEntry()
    if (context.canAsk) process.stdin.on('data', printNewEntry)
    await asked.promise
    await err.writeLine(
      'Stopping. Runs in progress can be resumed later. Press Ctrl-C again to quit at once.',
    )
  } finally {
    process.stdin.off('data', printNewEntry).pause()
    await shell.close()
    stopWatching()
  }
}

/** Opens a file in the browser. If no browser can be started, the printed link has to do. */
async function openInBrowser(file: string): Promise<void> {
  const { default: open } = await import('open')
  const browser = await open(file).catch(() => null)
  browser?.on('error', () => {})
}

/** Adds `open`: the screens in the browser, until it is interrupted. */
export function addOpenCommand(program: Command, context: CliContext): void {
  const command = program
    .command('open')
    .description(
      'Opens the window of Sluice in your browser, served from this machine until Ctrl-C. ' +
        'Only the browser that it opens has access.',
    )
    .option('--no-browser', 'print the address instead of opening a browser')
    .option('--port <n>', 'port; 0 picks a free one', createIntegerParser(0, 65_535), 0)
  addWorkspaceOption(command).action(async (flags: OpenFlags) => {
    await serveScreens(context, flags)
    context.exitCode = EXIT.ok
  })
  addExamples(command, ['open', 'open --no-browser --port 4020'])
}
