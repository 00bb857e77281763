import { spawn } from 'node:child_process'
import { type ElectronApplication, _electron as electron } from 'playwright-core'
import { BUILT_FOLDER } from '../build/bundles.ts'
import type { QuitAnswer, Shell, ShellFolders } from './shell.ts'
import { watchEnd } from './shell.ts'

/** The built, unpacked app in Electron or its stand-in, both started and driven in the same way. */
export function createElectronShell(program: string): Shell {
  const toStart = ({ userData, workspace }: ShellFolders, file?: string) => ({
    args: [BUILT_FOLDER, `--user-data-dir=${userData}`, ...(file === undefined ? [] : [file])],
    env: { ...process.env, SLUICE_WORKSPACE: workspace } as Record<string, string>,
  })
  return {
    async start(folders, file) {
      const app = await electron.launch({ executablePath: program, ...toStart(folders, file) })
      const end = watchEnd(app.process())
      const page = await app.firstWindow()
      return { page, ...end, quit: (answer) => quit(app, answer) }
    },
    startAgain(folders, file) {
      const { args, env } = toStart(folders, file)
      return watchEnd(spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env })).ended
    },
  }
}

/** Presses a button of the app's next question, and asks the app to quit. */
async function quit(app: ElectronApplication, answer: QuitAnswer): Promise<string> {
  return app.evaluate(
    ({ app: electronApp, dialog }, button) =>
      new Promise<string>((resolve) => {
        dialog.showMessageBox = async (...given: unknown[]) => {
          const { message, buttons } = given.at(-1) as { message: string; buttons: string[] }
          resolve(message)
          return { response: buttons.indexOf(button), checkboxChecked: false }
        }
        electronApp.quit()
      }),
    answer,
  )
}
