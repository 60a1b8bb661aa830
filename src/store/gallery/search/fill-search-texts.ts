import type { Store } from '../../database.ts'
import type { SubjectRow } from '../../gallery-schema.ts'
import { sql } from '../../kysely.ts'
import type { ReadTx, Tx } from '../../tx.ts'
import { searchTextOf } from './search-text.ts'

type SubjectNames = Pick<SubjectRow, 'subjectId' | 'displayName' | 'externalId'>

/** Subjects per transaction, so that no call waits long for it. */
const batchSubjects = 1000

/**
 * Stores the search texts of subjects without one: those from before the migration, and those that a
 * server of an earlier version has changed. Only PostgreSQL has such subjects.
 */
export async function fillSearchTexts(store: Store, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.read((tx) => findWithoutText(tx, 1))).length > 0)
    await store.write(async (tx) => storeTexts(tx, await findWithoutText(tx, batchSubjects)))
}

function findWithoutText(tx: ReadTx, limit: number): Promise<readonly SubjectNames[]> {
  return tx.run(
    tx.build
      .selectFrom('subjects')
      .select(['subjectId', 'displayName', 'externalId'])
      .where('searchText', 'is', null)
      .orderBy('subjectId')
      .limit(limit),
  )
}

/** Stores the texts with one statement. Another transaction may change names meanwhile. */
async function storeTexts(tx: Tx, subjects: readonly SubjectNames[]): Promise<void> {
  const texts = subjects.map((subject) => ({ ...subject, searchText: searchTextOf(subject) }))
  const filled = sql<SubjectNames & { searchText: string }>`
    json_to_recordset(${JSON.stringify(texts)}::json)`
  await tx.run(
    tx.build
      .updateTable('subjects')
      .from(
        filled.as<'filled'>(
          sql`filled("subjectId" text, "displayName" text, "externalId" text, "searchText" text)`,
        ),
      )
      .set({ searchText: sql<string>`filled."searchText"` })
      .where(sql<boolean>`subjects."subjectId" = filled."subjectId"
        and subjects."displayName" is not distinct from filled."displayName"
        and subjects."externalId" is not distinct from filled."externalId"`),
  )
}
