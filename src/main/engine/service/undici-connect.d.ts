// The part of undici that opens connections, loaded without the nine tenths of it that send requests and fetch.
declare module 'undici/lib/core/connect.js' {
  const connect: typeof import('undici').buildConnector
  export default connect
}
