import { ofGallery, secure } from '../migrations/row-security.ts'

/**
 * The tables for search in the database. They are created at their first use, because not every
 * database has the extension. Triggers maintain the counts. Therefore a search detects templates
 * without a vector even if a server with search in memory, or a person in psql, wrote them.
 */
export function vectorTableStatements(): string[] {
  const policies = secure(ofGallery, 'vectors', 'templateCounts', 'vectorCounts')
  return [...vectorTable(), ...countTables(), ...policies]
}

export const vectorPartitions = 16

export function partitionName(part: number): string {
  return `vectors_${part}`
}

/**
 * One row for each template of a searched model. `slack` and `embedding` are null if the template
 * cannot be decrypted; it then matches no probe.
 */
function vectorTable(): string[] {
  return [
    `create table vectors (
      "galleryId" text collate "C" not null,
      "faceId" text collate "C" not null,
      "modelId" text collate "C" not null,
      "subjectId" text collate "C" not null,
      slack real,
      embedding halfvec,
      primary key ("galleryId", "faceId", "modelId"),
      foreign key ("galleryId", "faceId", "modelId") references templates on delete cascade,
      check ((slack is null) = (embedding is null))
    ) partition by hash ("galleryId")`,
    // With other storage, every scan would fetch each vector from the TOAST table.
    'alter table vectors alter column embedding set storage plain',
    // A vacuum must also clean the indexes, so that deleted vectors are removed from them.
    ...Array.from(
      { length: vectorPartitions },
      (_, part) => `create table ${partitionName(part)} partition of vectors
        for values with (modulus ${vectorPartitions}, remainder ${part})
        with (vacuum_index_cleanup = on)`,
    ),
    'create index vectors_of_subject on vectors ("galleryId", "subjectId")',
  ]
}

function countTables(): string[] {
  return [
    ...countTable('templates', 'templateCounts', 'countTemplate'),
    ...countTable('vectors', 'vectorCounts', 'countVector'),
    `insert into "templateCounts" select "galleryId", "modelId", count(*) from templates group by 1, 2`,
  ]
}

/**
 * Returns a table with the number of rows of each gallery and model, and the trigger that counts them.
 * Creating a trigger locks the table: no row is written until all of them are counted.
 */
function countTable(rows: 'templates' | 'vectors', counts: string, count: string): string[] {
  return [
    `create table "${counts}" (
      "galleryId" text collate "C" not null,
      "modelId" text collate "C" not null,
      ${rows} bigint not null check (${rows} >= 0),
      primary key ("galleryId", "modelId")
    ) with (fillfactor = 50)`,
    `create function "${count}"() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into "${counts}" as c ("galleryId", "modelId", ${rows})
            values (new."galleryId", new."modelId", 1)
            on conflict ("galleryId", "modelId") do update set ${rows} = c.${rows} + 1;
        else
          update "${counts}" set ${rows} = ${rows} - 1
            where "galleryId" = old."galleryId" and "modelId" = old."modelId";
        end if;
        return null;
      end $$`,
    `create trigger ${rows}_are_counted after insert or delete on ${rows}
      for each row execute function "${count}"()`,
  ]
}
