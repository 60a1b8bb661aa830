import { sql, type Kysely, type Migration } from 'kysely'
import { searchTextOf } from '../../gallery/search/search-text.ts'
import type { Schema } from '../../schema.ts'

/**
 * The text in which a subject is searched, and an index that contains it in the order of the lists. A
 * search then reads no other data of the subjects.
 */
export const searchTexts: Migration = { up }

async function up(db: Kysely<Schema>): Promise<void> {
  await sql.raw(`alter table subjects add column searchText text not null default ''`).execute(db)
  await fill(db)
  await sql
    .raw(
      `create index subjects_by_text
         on subjects (galleryId, createdAtUtc, subjectId, searchText)`,
    )
    .execute(db)
}

const batchSubjects = 1000

/** One statement per batch: 200,000 subjects take a few seconds. */
async function fill(db: Kysely<Schema>): Promise<void> {
  for (let afterId = ''; ;) {
    const batch = await db
      .selectFrom('subjects')
      .select(['subjectId', 'displayName', 'externalId'])
      .where('subjectId', '>', afterId)
      .orderBy('subjectId')
      .limit(batchSubjects)
      .execute()
    const last = batch.at(-1)
    if (!last) return
    const texts = batch.map((subject) => [subject.subjectId, searchTextOf(subject)])
    await sql`update subjects set searchText = filled.value ->> 1
      from json_each(${JSON.stringify(texts)}) as filled
      where subjects.subjectId = filled.value ->> 0`.execute(db)
    afterId = last.subjectId
  }
}
