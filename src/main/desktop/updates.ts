import { readFileSync } from 'node:fs'
import { app, dialog } from 'electron'
import type { AppUpdater, CancellationToken } from 'electron-updater'
import { z } from 'zod'
import { toSystemCode } from '../../shared/messages/thrown.ts'
import { APP_VERSION } from '../../shared/version.ts'
import { replaceFileSync } from '../engine/workspace/replace-file.ts'
import { describeError, type EventLog } from './event-log.ts'
import { type HeldRuns, isUnderWay } from './run-attention.ts'
import { showMessage } from './window.ts'

/** What updates need from electron-updater. */
export interface UpdaterParts {
  updater: AppUpdater
  createToken(): CancellationToken
}

/** What updates need from the app. */
export interface UpdateOptions extends UpdaterParts {
  runs: HeldRuns
  log: EventLog
  settingFile: string
  /** Closes the engine, then installs. */
  closeThen(install: () => void): void
}

const settingSchema = z.object({ isAutomatic: z.boolean() })

const LATER = 0
const YES = 1

function show(options: Electron.MessageBoxOptions): Promise<number> {
  return showMessage({ title: 'Updates', ...options })
}

async function ask(message: string, detail: string, yes: string): Promise<boolean> {
  const buttons = ['Later', yes]
  return (
    (await show({ type: 'question', message, detail, buttons, defaultId: LATER, cancelId: LATER })) === YES
  )
}

/** Whether a check failed because the machine is offline, which is not reported. */
function isOffline(error: unknown): boolean {
  return error instanceof Error && /net::ERR_|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT/.test(error.message)
}

/** Configures electron-updater so that it does nothing by itself. */
export function createUpdates({ updater, createToken, runs, log, settingFile, closeThen }: UpdateOptions) {
  updater.autoDownload = false
  updater.autoInstallOnAppQuit = false
  updater.allowDowngrade = false
  updater.allowPrerelease = false
  updater.disableDifferentialDownload = true
  updater.disableWebInstaller = true
  updater.logger = null
  // Without a listener, an error would end the process; errors of our own calls are caught there.
  updater.on('error', () => {})
  let isBusy = false

  const isRunning = () => runs.snapshots().some(isUnderWay)
  const whenIdle = () =>
    new Promise<void>((resolve) => {
      if (!isRunning()) {
        resolve()
        return
      }
      const stop = runs.onChange(() => {
        if (isRunning()) return
        stop()
        resolve()
      })
    })

  /** A new run cancels the download, which would slow it down; the download restarts after the run. */
  const download = async () => {
    for (;;) {
      await whenIdle()
      const token = createToken()
      const stop = runs.onChange(() => {
        if (isRunning()) token.cancel()
      })
      try {
        await updater.downloadUpdate(token)
        return
      } catch (error) {
        if (!token.cancelled) throw error
        log.write('update waits for a run')
      } finally {
        stop()
      }
    }
  }

  const offer = async (version: string) => {
    await whenIdle()
    const about = `You have ${APP_VERSION}. Nothing is downloaded or installed without your consent.`
    if (!(await ask(`Sluice ${version} is available`, about, 'Download'))) return
    await download()
    for (;;) {
      await whenIdle()
      const detail = 'Sluice closes, installs the new version and starts again.'
      if (!(await ask(`Sluice ${version} is downloaded`, detail, 'Install and restart'))) return
      if (isRunning()) continue
      log.write('update installs', { version })
      closeThen(() => {
        // The engine is already closed, so the app must be restarted if it cannot be replaced.
        updater.once('error', (error) => {
          log.write('update failed', { error: describeError(error) })
          dialog.showErrorBox('The update failed', `Start Sluice again. ${APP_VERSION} stays installed.`)
          app.quit()
        })
        updater.quitAndInstall(false, true)
      })
      return
    }
  }

  const check = async (byPerson: boolean) => {
    let isChecking = true
    try {
      await whenIdle()
      const result = await updater.checkForUpdates()
      isChecking = false
      log.write('update checked', { version: result?.updateInfo.version ?? null })
      if (result?.isUpdateAvailable) await offer(result.updateInfo.version)
      else if (byPerson) await show({ type: 'info', message: `Sluice ${APP_VERSION} is the newest version` })
    } catch (error) {
      log.write('update failed', { error: describeError(error) })
      if (isChecking && !byPerson && isOffline(error)) return
      const message = isChecking ? 'Cannot look for updates' : 'The update failed'
      const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 500) : ''
      await show({ type: 'error', message, detail: `${detail}\n\nSluice ${APP_VERSION} stays installed.` })
    }
  }

  return {
    /** Whether Sluice checks for new versions by itself. */
    isAutomatic(): boolean {
      try {
        return settingSchema.parse(JSON.parse(readFileSync(settingFile, 'utf8'))).isAutomatic
      } catch (error) {
        // A damaged file may have said no; only a missing one means yes.
        return toSystemCode(error) === 'ENOENT'
      }
    },
    setAutomatic(isAutomatic: boolean): void {
      replaceFileSync(settingFile, JSON.stringify({ isAutomatic }), { isPrivate: true })
    },
    /**
     * Checks for a new version and offers it. With `byPerson`, also tells if there is none or if the check
     * failed.
     */
    async check({ byPerson }: { byPerson: boolean }): Promise<void> {
      if (byPerson && isRunning()) {
        await show({ type: 'info', message: 'Sluice looks for updates when no run is in progress' })
        return
      }
      if (isBusy) return
      isBusy = true
      try {
        await check(byPerson)
      } finally {
        isBusy = false
      }
    },
  }
}

/** The app's updates. Nothing is downloaded or installed without consent, or while a run is under way. */
export interface Updates extends ReturnType<typeof createUpdates> {}
