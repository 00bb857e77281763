import { cpSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Arch, build, type Configuration, Platform } from 'electron-builder'
import { toPackaging } from '../../../scripts/release/packaging.ts'
import { PROJECT_FOLDER } from '../../house-rules/read-module.ts'
import { type PackedSystem, writeElectronDistribution } from './electron-distribution.ts'

const PLATFORMS = {
  mac: { platform: Platform.MAC, name: 'darwin', arch: Arch.arm64, folder: 'mac-arm64' },
  win: { platform: Platform.WINDOWS, name: 'win32', arch: Arch.x64, folder: 'win-unpacked' },
  linux: { platform: Platform.LINUX, name: 'linux', arch: Arch.x64, folder: 'linux-unpacked' },
} as const

/**
 * Packs a built app for a system with electron-builder and the replacement for Electron's distribution, all
 * below `folder`, which contains `out`. Returns the folder of the packaged app.
 */
export async function packHere(folder: string, system: PackedSystem): Promise<string> {
  const { platform, name, arch, folder: packed } = PLATFORMS[system]
  for (const path of ['package.json', 'electron-builder.yml', 'build']) {
    cpSync(join(PROJECT_FOLDER, path), join(folder, path), { recursive: true })
  }
  const modules = join(folder, 'node_modules')
  if (!existsSync(modules)) symlinkSync(join(PROJECT_FOLDER, 'node_modules'), modules, 'junction')
  const electronDist = join(folder, `electron-${system}`)
  writeElectronDistribution(electronDist, system)
  const config: Configuration = { ...toPackaging(name, {}).config, electronDist, electronVersion: '45.4.1' }
  await build({ projectDir: folder, targets: platform.createTarget('dir', arch), publish: 'never', config })
  return join(folder, 'dist', packed)
}
