import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/**
 * Records of removed faces are deleted while servers run. A gallery stores up to which change that
 * happened, whichever process deletes them, so that a server that missed them reloads the gallery.
 */
export const removals: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'alter table galleries add column "removalsDeletedTo" bigint not null default 0',
  `create function "recordDeletedRemovals"() returns trigger language plpgsql as $$
    begin
      update galleries g set "removalsDeletedTo" = greatest(g."removalsDeletedTo", d.sequence)
        from (select "galleryId", max(sequence) as sequence from deleted group by 1) as d
        where g."galleryId" = d."galleryId";
      return null;
    end $$`,
  `create trigger removals_deletion_is_recorded after delete on removals
    referencing old table as deleted for each statement
    execute function "recordDeletedRemovals"()`,
  // Servers of earlier versions hold galleries in memory and report nothing.
  'alter table nodes add column "hasGalleries" boolean not null default true',
  `create table "appliedRemovals" (
    "nodeId" ${text} not null references nodes on delete cascade,
    "galleryId" ${text} not null,
    sequence bigint not null,
    primary key ("nodeId", "galleryId")
  )`,
  'alter table "appliedRemovals" enable row level security',
  'alter table "appliedRemovals" force row level security',
  `create policy "appliedRemovals_of_account" on "appliedRemovals" using (
    (select current_setting('facegate.account', true)) = '*' or
    "galleryId" = any (array(select "galleryId" from galleries
      where "accountId" = (select current_setting('facegate.account', true)))))`,
]
