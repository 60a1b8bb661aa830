import { sql } from 'kysely'
import type { Store } from '../../database.ts'
import type { SubjectRow } from '../../schema.ts'
import type { ReadTx } from '../../tx.ts'
import { searchTextOf } from './search-text.ts'

type SubjectNames = Pick<SubjectRow, 'subjectId' | 'displayName' | 'externalId'>

/** Subjects per transaction, so that no call waits long for it. */
const batchSubjects = 500

/**
 * Stores the search texts of subjects without one: those from before the migration, and those that a
 * server of an earlier version has changed. Only PostgreSQL has such subjects.
 */
export async function fillSearchTexts(store: Store, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await store.read((tx) => findWithoutText(tx, 1))).length > 0)
    await store.write(async (tx) => {
      for (const subject of await findWithoutText(tx, batchSubjects))
        await tx.run(
          tx.build
            .updateTable('subjects')
            .set({ searchText: searchTextOf(subject) })
            .where('subjectId', '=', subject.subjectId)
            // Another transaction may have changed the names meanwhile.
            .where(sameText('displayName', subject.displayName))
            .where(sameText('externalId', subject.externalId)),
        )
    })
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

function sameText(column: 'displayName' | 'externalId', text: string | null) {
  return sql<boolean>`${sql.ref(column)} is not distinct from ${text}`
}
