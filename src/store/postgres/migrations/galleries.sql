create index galleries_of_account on galleries ("accountId")

-- Removals are deleted while servers run. The gallery stores up to which change that happened, so
-- that a server that missed them reloads the gallery.
create function "recordDeletedRemovals"() returns trigger language plpgsql as $$ begin
  update galleries g set "removalsDeletedTo" = greatest(g."removalsDeletedTo", d.sequence)
    from (select "galleryId", max(sequence) as sequence from deleted group by 1) as d
    where g."galleryId" = d."galleryId";
  return null;
end $$

create trigger removals_deletion_is_recorded after delete on removals
  referencing old table as deleted for each statement
  execute function "recordDeletedRemovals"()

create function "fillAttributes"() returns trigger language plpgsql as $$ begin
  if tg_op = 'UPDATE' then
    delete from "subjectAttributes" where "subjectId" = new."subjectId";
  end if;
  insert into "subjectAttributes" ("galleryId", name, value, "subjectId")
    select new."galleryId", e.key, e.value #>> '{}', new."subjectId"
    from json_each(new.attributes::json) as e
    where length(e.key) <= 128 and length(e.value #>> '{}') <= 256
      and (json_typeof(e.value) in ('string', 'boolean')
        or json_typeof(e.value) = 'number' and e.value::text ~ '^-?[0-9]{1,15}$')
    on conflict do nothing;
  return null;
end $$

create trigger subjects_add_attributes after insert on subjects for each row
  when (new.attributes <> '{}') execute function "fillAttributes"()

create trigger subjects_change_attributes after update of attributes on subjects for each row
  when (new.attributes <> old.attributes) execute function "fillAttributes"()

-- Templates contain the gallery of their face, so that a query by face reads one partition.
alter table faces add unique ("galleryId", "faceId")

create table templates (
  "faceId" text collate "C" not null,
  "modelId" text collate "C" not null, ciphertext bytea not null, "galleryId" text collate "C" not null,
  primary key ("galleryId", "faceId", "modelId"),
  foreign key ("galleryId", "faceId") references faces ("galleryId", "faceId") on delete cascade
) partition by hash ("galleryId")

create index templates_of_model on templates ("modelId", "faceId")

-- Ciphertext cannot be compressed.
alter table "galleryPages" alter column ciphertext set storage external

-- Deletes the page that contains the faces of a change. The pages of a gallery never overlap: the
-- first one that ends at or after the change contains it.
-- 
-- The lock conflicts with that of a transaction that adds a page. Either that transaction ends first,
-- and its page is deleted here; or it waits for this transaction, and then finds that a face is
-- missing. It does not conflict with other changes of the gallery.
create function "deletePage"("changedGalleryId" text, "changedSequence" bigint) returns void
language plpgsql as $$ begin
  perform from galleries g where g."galleryId" = "changedGalleryId" for key share;
  delete from "galleryPages" p
    where p."galleryId" = "changedGalleryId" and p."afterSequence" < "changedSequence"
      and p."toSequence" = (select min(q."toSequence") from "galleryPages" q
        where q."galleryId" = "changedGalleryId" and q."toSequence" >= "changedSequence");
end $$

create function "deletePageOfFace"() returns trigger language plpgsql as $$ begin
  perform "deletePage"(old."galleryId", old.sequence);
  return null;
end $$

create trigger faces_change_deletes_page after update or delete on faces
  for each row execute function "deletePageOfFace"()

create function "deletePageOfTemplate"() returns trigger language plpgsql as $$ begin
  perform "deletePage"(f."galleryId", f.sequence) from faces f where f."faceId" = old."faceId";
  return null;
end $$

create trigger templates_change_deletes_page after update or delete on templates
  for each row execute function "deletePageOfTemplate"()

create function "deletePagesOfSubject"() returns trigger language plpgsql as $$ begin
  perform "deletePage"(f."galleryId", f.sequence) from faces f
    where f."subjectId" = old."subjectId";
  return null;
end $$

create trigger subjects_change_deletes_pages after update on subjects for each row
  when (new."wrappedKey" <> old."wrappedKey"
    or new."expiresAtUtc" is distinct from old."expiresAtUtc")
  execute function "deletePagesOfSubject"()
