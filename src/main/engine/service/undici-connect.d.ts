// The tenth of undici that opens connections, loaded without the rest, which sends requests and fetches.
declare module 'undici/lib/core/connect.js' {
  const connect: typeof import('undici').buildConnector
  export default connect
}
