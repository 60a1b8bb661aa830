import { sql, type Kysely, type Migration } from 'kysely'

/** A gallery stores up to which change records of removed faces were deleted. */
export const removals: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw('alter table galleries add column removalsDeletedTo integer not null default 0')
    .execute(db)
  await sql
    .raw(
      `create trigger removals_deletion_is_recorded after delete on removals begin
        update galleries set removalsDeletedTo = max(removalsDeletedTo, old.sequence)
          where galleryId = old.galleryId;
      end`,
    )
    .execute(db)
}
