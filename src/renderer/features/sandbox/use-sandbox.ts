import { useMutation, useQuery } from '@tanstack/react-query'
import type { SandboxState } from '../../../shared/bridge/sandbox.ts'
import type { BehaviourChange } from '../../../shared/sandbox/behaviour.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'

/** How the sandbox stands, looked at again every two seconds, since runs and other windows use it, too. */
export function useSandbox() {
  return useQuery({ ...ask.sandbox.read.queryOptions(), refetchInterval: 2_000 })
}

/** Changes the sandbox and shows how it stands then. */
export function useSandboxChange() {
  return useMutation({
    mutationFn: (make: () => Promise<SandboxState>) => make(),
    onSuccess: async (state) => {
      queryClient.setQueryData(ask.sandbox.read.queryKey(), state)
      // The address is part of what the app knows of itself.
      await queryClient.invalidateQueries({ queryKey: ask.app.describe.queryKey() })
    },
  })
}

export function useBehaviour() {
  const change = useSandboxChange()
  return {
    ...change,
    behave: (settings: BehaviourChange) => change.mutate(() => bridge.sandbox.behave(settings)),
  }
}
