import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { ask, queryClient } from './client.ts'

export function showConnections(entries: ConnectionEntry[]): void {
  queryClient.setQueryData(ask.connections.list.queryKey(), entries)
  void queryClient.invalidateQueries({ queryKey: ask.connections.listKeysLeft.key() })
  // A new run begins with the connection in use.
  void queryClient.invalidateQueries({ queryKey: ask.app.describe.key() })
  void queryClient.invalidateQueries({ queryKey: ask.connections.findSystemRoute.key() })
}
