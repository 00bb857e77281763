import { readFile } from 'node:fs/promises'
import process from 'node:process'
import type { About, ShownFolder } from '../../shared/bridge/settings.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { APP_VERSION } from '../../shared/version.ts'
import { measureWorkspace } from '../engine/workspace/workspace-usage.ts'
import { NOTICES_FILE } from '../program-files.ts'
import type { BridgeContext, DesktopParts, Handlers } from './bridge-context.ts'
import { changeSettings, readSettings } from './settings-store.ts'

export const settingsHandlers: Handlers<'settings'> = {
  read: async ({ context }) => readSettings(context.engine.workspace),
  change: async ({ context, input }) => {
    const { engine, liveRuns, productionGate, cleanUps } = context
    productionGate.refuseAddress(input.publicUrl ?? undefined)
    const stored = changeSettings(engine.workspace, input)
    liveRuns.noteChange()
    if (input.cleansUp === true) await cleanUps.look()
    return stored
  },
  about: async ({ context }) => {
    const { host } = context
    const updates = host.desktop?.updates ?? null
    return {
      version: APP_VERSION,
      runtimes: listRuntimes(),
      platform: `${process.platform} ${process.arch}`,
      folders: listFolders(context),
      desktop: host.desktop === null ? null : { looksForUpdates: updates?.isAutomatic() ?? null },
    }
  },
  readNotices: async () => ({
    text: await readFile(NOTICES_FILE, 'utf8').catch(() => null),
  }),
  measure: async ({ context: { engine, cleanUps } }) => ({
    ...(await measureWorkspace(engine.workspace)),
    lastCleanUp: cleanUps.last(),
  }),
  openFolder: async ({ context, input: { folder } }) => {
    const desktop = requireDesktop(context)
    const path = listFolders(context).find(({ kind }) => kind === folder)?.path ?? ''
    const reason = await desktop.openFolder(path)
    if (reason !== '') throw new SluiceError({ id: 'folder_unopened', folder: path, reason })
  },
  collectDiagnostics: async ({ context }) => {
    await requireDesktop(context).collectDiagnostics()
  },
  setUpdates: ({ context, input: { isAutomatic } }) => requireUpdates(context).setAutomatic(isAutomatic),
  checkForUpdates: async ({ context }) => {
    // Not awaited, since its dialogs may stay open for long.
    void requireUpdates(context).check({ byPerson: true })
  },
}

function listRuntimes(): About['runtimes'] {
  const { electron, chrome, node } = process.versions
  const known = [
    ['Electron', electron],
    ['Chromium', chrome],
    ['Node.js', node],
  ] as const
  return known.flatMap(([name, version]) => (version === undefined ? [] : [{ name, version }]))
}

function listFolders({ engine, host }: BridgeContext): { kind: ShownFolder; path: string }[] {
  const { desktop } = host
  return [
    { kind: 'workspace', path: engine.workspace },
    ...(desktop === null
      ? []
      : [
          { kind: 'logs' as const, path: desktop.logFolder },
          { kind: 'diagnostics' as const, path: desktop.diagnosticsFolder },
        ]),
  ]
}

function requireDesktop({ host }: BridgeContext): DesktopParts {
  if (host.desktop === null) throw new SluiceError({ id: 'desktop_only' })
  return host.desktop
}

function requireUpdates(context: BridgeContext): NonNullable<DesktopParts['updates']> {
  const { updates } = requireDesktop(context)
  if (updates === null) throw new SluiceError({ id: 'updates_unavailable' })
  return updates
}
