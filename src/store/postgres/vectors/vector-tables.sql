-- One row for each subject and each model of its templates. `slack` and `embedding` are null while the
-- row is stale, and if no template can be decrypted; it then matches no probe.
create table vectors (
  "galleryId" text collate "C" not null,
  "subjectId" text collate "C" not null references subjects on delete cascade,
  "modelId" text collate "C" not null,
  "isStale" boolean not null default true,
  slack real,
  embedding halfvec,
  primary key ("galleryId", "subjectId", "modelId"),
  check ((slack is null) = (embedding is null)),
  check (not "isStale" or embedding is null)
) partition by hash ("galleryId")

-- With other storage, every scan would fetch each vector from the TOAST table.
alter table vectors alter column embedding set storage plain

create index vectors_of_subject on vectors ("subjectId")

create index stale_vectors on vectors ("galleryId", "modelId", "subjectId") where "isStale"

-- The triggers mark the vectors of a subject as stale when it gets or loses a template, and delete
-- their embeddings. Creating a trigger locks the table: no row is written until then.
create function "markVectors"("ofGallery" text, "ofFace" text, "ofModel" text) returns void
language plpgsql as $$ begin
  insert into vectors ("galleryId", "subjectId", "modelId")
    select f."galleryId", f."subjectId", t."modelId"
      from faces f join templates t using ("galleryId", "faceId")
      where f."galleryId" = "ofGallery" and f."faceId" = "ofFace"
        and t."modelId" = coalesce("ofModel", t."modelId")
    on conflict ("galleryId", "subjectId", "modelId") do update set "isStale" = true, slack = null, embedding = null;
end $$

create function "markVectorOfTemplate"() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    perform "markVectors"(new."galleryId", new."faceId", new."modelId");
  else
    update vectors v set "isStale" = true, slack = null, embedding = null from faces f
      where f."galleryId" = old."galleryId" and f."faceId" = old."faceId"
        and v."galleryId" = f."galleryId" and v."subjectId" = f."subjectId"
        and v."modelId" = old."modelId";
  end if;
  return null;
end $$

create trigger templates_mark_vectors after insert or delete on templates
  for each row execute function "markVectorOfTemplate"()

create function "markVectorsOfFace"() returns trigger language plpgsql as $$ begin
  update vectors set "isStale" = true, slack = null, embedding = null
    where "galleryId" = old."galleryId" and "subjectId" = old."subjectId";
  if tg_op = 'UPDATE' then
    perform "markVectors"(new."galleryId", new."faceId", null);
  end if;
  return null;
end $$

-- A face changes its subject when it moves, or when two subjects are merged.
create trigger faces_mark_vectors after update of "subjectId" or delete on faces
  for each row execute function "markVectorsOfFace"()

-- The number of templates of each gallery and model.
create table "templateCounts" (
  "galleryId" text collate "C" not null,
  "modelId" text collate "C" not null,
  templates bigint not null check (templates >= 0),
  primary key ("galleryId", "modelId")
) with (fillfactor = 50)

create function "countTemplate"() returns trigger language plpgsql as $$
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
  end $$

create trigger templates_are_counted after insert or delete on templates
  for each row execute function "countTemplate"()

insert into "templateCounts" select "galleryId", "modelId", count(*) from templates group by 1, 2
