/**
 * The tables of the search in the database, made where it is first used: not every database has the
 * extension. Counts are kept by triggers, so that whoever writes or deletes a template, a server
 * that searches in its memory or a hand in psql, leaves behind what a search needs to know: that a
 * template has no vector yet.
 */
export function vectorTableStatements(): string[] {
  return [...vectorTable(), ...countTables(), ...rowPolicies()]
}

export const vectorPartitions = 16

/** The partition of a row, by its number. */
export function partitionName(part: number): string {
  return `vectors_${part}`
}

/**
 * A row for each template of a model that was ever searched by. `space`: the gallery's key that its
 * rotation was derived from; null: not rotated. `slack` and `embedding` are null where the template
 * does not open: it matches nobody.
 */
function vectorTable(): string[] {
  return [
    `create table vectors (
      "galleryId" text collate "C" not null,
      "faceId" text collate "C" not null,
      "modelId" text collate "C" not null,
      "subjectId" text collate "C" not null,
      space text collate "C" references "galleryKeys" ("keyId"),
      slack real,
      embedding halfvec,
      primary key ("galleryId", "faceId", "modelId"),
      foreign key ("galleryId", "faceId", "modelId") references templates on delete cascade,
      check ((slack is null) = (embedding is null))
    ) partition by hash ("galleryId")`,
    // Else every scan would fetch each vector from another table.
    'alter table vectors alter column embedding set storage plain',
    // A vacuum that spares the indexes would leave in them whoever was deleted.
    ...Array.from(
      { length: vectorPartitions },
      (_, part) => `create table ${partitionName(part)} partition of vectors
        for values with (modulus ${vectorPartitions}, remainder ${part})
        with (vacuum_index_cleanup = on)`,
    ),
    'create index vectors_of_subject on vectors ("galleryId", "subjectId")',
    'create index vectors_in_space on vectors (space)',
  ]
}

function countTables(): string[] {
  return [
    `create table "templateCounts" (
      "galleryId" text collate "C" not null,
      "modelId" text collate "C" not null,
      templates bigint not null check (templates >= 0),
      primary key ("galleryId", "modelId")
    ) with (fillfactor = 50)`,
    // Not rotated counts as the space ''.
    `create table "vectorCounts" (
      "galleryId" text collate "C" not null,
      "modelId" text collate "C" not null,
      space text collate "C" not null,
      vectors bigint not null check (vectors >= 0),
      primary key ("galleryId", "modelId", space)
    ) with (fillfactor = 50)`,
    `create function "countTemplate"() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into "templateCounts" as c ("galleryId", "modelId", templates)
            values (new."galleryId", new."modelId", 1)
            on conflict ("galleryId", "modelId") do update set templates = c.templates + 1;
        else
          update "templateCounts" set templates = templates - 1
            where "galleryId" = old."galleryId" and "modelId" = old."modelId";
        end if;
        return null;
      end $$`,
    `create function "countVector"() returns trigger language plpgsql as $$
      begin
        if tg_op <> 'DELETE' then
          insert into "vectorCounts" as c ("galleryId", "modelId", space, vectors)
            values (new."galleryId", new."modelId", coalesce(new.space, ''), 1)
            on conflict ("galleryId", "modelId", space) do update set vectors = c.vectors + 1;
        end if;
        if tg_op <> 'INSERT' then
          update "vectorCounts" set vectors = vectors - 1
            where "galleryId" = old."galleryId" and "modelId" = old."modelId"
              and space = coalesce(old.space, '');
        end if;
        return null;
      end $$`,
    // From here on nobody writes templates until all are counted: a trigger's making locks them out.
    `create trigger templates_are_counted after insert or delete on templates
      for each row execute function "countTemplate"()`,
    `create trigger vectors_are_counted after insert or update of space or delete on vectors
      for each row execute function "countVector"()`,
    `insert into "templateCounts" select "galleryId", "modelId", count(*) from templates group by 1, 2`,
  ]
}

/** The same second lock between accounts as on every table of galleries. */
function rowPolicies(): string[] {
  const account = `(select current_setting('facegate.account', true))`
  return ['vectors', 'templateCounts', 'vectorCounts'].flatMap((table) => [
    `alter table "${table}" enable row level security`,
    `alter table "${table}" force row level security`,
    `create policy "${table}_of_account" on "${table}" using (${account} = '*' or
      "galleryId" = any (array(select "galleryId" from galleries where "accountId" = ${account})))`,
  ])
}
