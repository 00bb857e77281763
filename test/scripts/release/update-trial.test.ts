import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tryUpdate } from '../../../scripts/release/update-trial.ts'
import { findChromium } from '../../helpers/e2e/find-chromium.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { PROJECT_FOLDER } from '../../house-rules/read-module.ts'

const APP = join(PROJECT_FOLDER, 'test/helpers/packaging/updating-app.ts')

/** A currently free port. */
async function findPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  const { port } = server.address() as AddressInfo
  await new Promise((settle) => server.close(settle))
  return port
}

/** An installed app of version 0.0.1, and the installer of 0.0.2 or of the given version. */
async function prepare(next = '0.0.2') {
  const folder = createTemporaryFolder()
  const [program, installer] = ['Sluice.AppImage', 'Sluice-0.0.2-linux-x86_64.AppImage'].map((name) =>
    join(folder, name),
  ) as [string, string]
  const write = (file: string, version: string) => {
    const start = `export APPIMAGE='${program}'\nexec '${process.execPath}' '${APP}' ${version} '${folder}' "$@"`
    writeFileSync(file, `#!/bin/sh\n${start}\n`)
    chmodSync(file, 0o755)
  }
  write(program, '0.0.1')
  write(installer, next)
  const port = await findPort()
  const userData = join(folder, 'user-data')
  mkdirSync(userData)
  writeFileSync(
    join(folder, 'app-update.yml'),
    `provider: generic\nurl: http://127.0.0.1:${port}\nupdaterCacheDirName: sluice\n`,
  )
  const said: string[] = []
  const trial = {
    program,
    installer,
    port,
    userData,
    from: '0.0.1',
    to: '0.0.2',
    system: 'linux' as const,
    processor: process.arch === 'arm64' ? ('arm64' as const) : ('x64' as const),
    press: async (button: string) => writeFileSync(join(folder, 'pressed'), button),
    say: (line: string) => void said.push(line),
    withinMs: 60_000,
  }
  return { trial, said }
}

it.runIf(process.platform === 'linux' && findChromium() !== null)(
  'updates an installed app to the next version, after a press on each question, and reads it from its page',
  async () => {
    onlyInLongForm()
    const { trial, said } = await prepare()
    await tryUpdate(trial)
    expect(said).toEqual(['0.0.1 runs', '0.0.2 was downloaded after a yes', '0.0.1 has ended', '0.0.2 runs'])
    expect(readFileSync(trial.program, 'utf8')).toBe(readFileSync(trial.installer, 'utf8'))
  },
)

it.runIf(process.platform === 'linux' && findChromium() !== null)(
  'fails if the started version is not the packed one',
  async () => {
    onlyInLongForm()
    const { trial } = await prepare()
    await expect(tryUpdate({ ...trial, from: '0.0.0' })).rejects.toThrow('0.0.1 was started, not 0.0.0')
  },
)
