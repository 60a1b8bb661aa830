import { readCalls, type CallFilter, type LoggedCall } from '../../src/store/gate/calls.ts'
import type { Database } from '../../src/store/schema.ts'

/** Finds rows of the request log, by default the newest first. */
export async function findCalls(db: Database, filter: CallFilter): Promise<LoggedCall[]> {
  const rows = await readCalls(
    { build: db, run: async (query) => (await db.executeQuery(query)).rows },
    filter,
  )
  return [...rows]
}
