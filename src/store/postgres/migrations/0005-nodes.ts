import { sql, type Kysely, type Migration } from 'kysely'
import { roomy, text } from './columns.ts'

/** The running servers of this database, see `shared-clock.ts`. */
export const nodes: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table nodes (
        "nodeId" ${text} primary key,
        host ${text} not null,
        pid integer not null,
        version ${text} not null,
        "startedAtUtc" ${text} not null,
        "steadyUs" bigint not null,
        "dbUs" bigint not null,
        "seenAtUtc" ${text} not null
      ) ${roomy}`,
    )
    .execute(db)
}
