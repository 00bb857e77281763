import { resolveConfig } from 'electron-vite'
import { build } from 'vite'

/**
 * Builds one part of the product into the folder of its name there, as the product's own build does. Quiet unless it
 * fails.
 */
export async function buildPart(
  part: 'main' | 'renderer',
  folder: string,
  mode: 'development' | 'production' = 'production',
): Promise<void> {
  const environment = process.env['NODE_ENV']
  try {
    // Names the environment for the build, too: Vitest's own is `test`, in which React would be built for development.
    const { config } = await resolveConfig({ logLevel: 'error', build: { outDir: folder } }, 'build', mode)
    await build(config?.[part])
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  }
}
