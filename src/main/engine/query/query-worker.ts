import { serveCalls } from '../../worker-rpc.ts'
import { checkpointJournals, type QueryCalls, queries } from './queries.ts'

serveCalls<QueryCalls>(queries, { afterCall: checkpointJournals })
