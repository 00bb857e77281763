import type { Plugin } from 'vite'

/** hdr-histogram-js hides its `require` of zlib in an `eval`, from bundlers that could not resolve it; ours can. */
export function requireZlibPlainly(): Plugin {
  return {
    name: 'require-zlib-plainly',
    transform: {
      filter: { id: /hdr-histogram-js.+encoding\.js$/ },
      handler: (code) => code.replaceAll(/eval\('(require\("zlib"\)\.\w+)'\)/g, '$1'),
    },
  }
}
