import {
  createServiceClients,
  type ServiceClient,
  type ServiceClientOptions,
} from '../../src/main/engine/service/service-client.ts'

/** A client with a connection of its own, as each lane has one. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return createServiceClients(options)()
}
