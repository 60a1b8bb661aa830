import { readStatements } from '../../migrations.ts'
import { indexPlans } from '../migrations/index-plans.ts'
import { ofGallery, secure } from '../migrations/row-security.ts'

/**
 * The tables for search in the database. They are created at their first use, because not every
 * database has the extension. Triggers maintain the counts and mark vectors as stale. Therefore a
 * search detects subjects without a current vector even if a server with search in memory, or a person
 * in psql, changed them.
 */
export function vectorTableStatements(): string[] {
  return [
    ...readStatements(new URL('vector-tables.sql', import.meta.url)),
    // A vacuum must also clean the indexes, so that deleted vectors are removed from them.
    ...Array.from(
      { length: vectorPartitions },
      (_, part) => `create table ${partitionName(part)} partition of vectors
        for values with (modulus ${vectorPartitions}, remainder ${part})
        with (vacuum_index_cleanup = on)`,
    ),
    ...indexPlans('"markVectors"(text, text, text)'),
    ...indexPlans('"markVectorOfTemplate"()'),
    ...indexPlans('"markVectorsOfFace"()'),
    ...secure(ofGallery, 'vectors', 'templateCounts'),
  ]
}

export const vectorPartitions = 16

export function partitionName(part: number): string {
  return `vectors_${part}`
}

/**
 * Adds stale rows where templates have no row: in a new table, and if rows were deleted or left out of a
 * dump. Otherwise no search would find their subjects.
 */
export const addMissingVectors = `insert into vectors ("galleryId", "subjectId", "modelId")
  select distinct f."galleryId", f."subjectId", t."modelId"
    from templates t join faces f using ("galleryId", "faceId")
    where not exists (select from vectors v where v."galleryId" = f."galleryId"
      and v."subjectId" = f."subjectId" and v."modelId" = t."modelId")
  on conflict do nothing`
