// npm run icons: draws build/icon.icns and build/icon.ico from src/renderer/icon.svg in Chromium. The icons
// are committed, because electron-builder would otherwise download a tool to make them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const project = join(import.meta.dirname, '..')
const ICNS_TYPES = { 32: 'ic11', 64: 'ic12', 128: 'ic07', 256: 'ic08', 512: 'ic09', 1024: 'ic10' }
const ICO_SIZES = [16, 32, 48, 64, 128, 256]

/** An Apple icon: a type and a length before each PNG. */
function toIcns(pictures) {
  const parts = Object.entries(ICNS_TYPES).flatMap(([size, type]) => {
    const picture = pictures.get(Number(size))
    const head = Buffer.from(`${type}\0\0\0\0`, 'latin1')
    head.writeUInt32BE(8 + picture.length, 4)
    return [head, picture]
  })
  const head = Buffer.from('icns\0\0\0\0', 'latin1')
  head.writeUInt32BE(8 + parts.reduce((sum, part) => sum + part.length, 0), 4)
  return Buffer.concat([head, ...parts])
}

/** A Windows icon: a directory of sizes and offsets, then the PNGs. */
function toIco(pictures) {
  const directory = Buffer.alloc(6 + 16 * ICO_SIZES.length)
  directory.writeUInt16LE(1, 2)
  directory.writeUInt16LE(ICO_SIZES.length, 4)
  let offset = directory.length
  ICO_SIZES.forEach((size, index) => {
    const entry = 6 + 16 * index
    // 0 stands for 256.
    directory.writeUInt8(size % 256, entry)
    directory.writeUInt8(size % 256, entry + 1)
    directory.writeUInt16LE(1, entry + 4)
    directory.writeUInt16LE(32, entry + 6)
    directory.writeUInt32LE(pictures.get(size).length, entry + 8)
    directory.writeUInt32LE(offset, entry + 12)
    offset += pictures.get(size).length
  })
  return Buffer.concat([directory, ...ICO_SIZES.map((size) => pictures.get(size))])
}

const browser = await chromium.launch({
  executablePath: process.env.SLUICE_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
})
try {
  const page = await browser.newPage()
  const drawing = readFileSync(join(project, 'src/renderer/icon.svg'), 'utf8')
  const pictures = new Map()
  for (const size of new Set([...Object.keys(ICNS_TYPES).map(Number), ...ICO_SIZES])) {
    await page.setViewportSize({ width: size, height: size })
    await page.setContent(
      `<style>body { margin: 0 } svg { display: block; width: ${size}px }</style>${drawing}`,
    )
    pictures.set(size, await page.screenshot({ omitBackground: true }))
  }
  writeFileSync(join(project, 'build/icon.icns'), toIcns(pictures))
  writeFileSync(join(project, 'build/icon.ico'), toIco(pictures))
} finally {
  await browser.close()
}
