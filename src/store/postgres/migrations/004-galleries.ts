import { flag, freeSpace, text } from './columns.ts'
import { indexPlans } from './index-plans.ts'
import { ofAccount, ofGallery, ofProject, secure } from './row-security.ts'

/**
 * Galleries, their keys and calibrations, their subjects with groups and attributes, and the faces of
 * subjects with templates and crops. Foreign keys delete everything of a subject together with its row.
 */
export const statements: readonly string[] = [
  `create table galleries (
    "galleryId" ${text} primary key, "accountId" ${text} not null references accounts,
    sequence bigint not null default 0,
    "subjectCount" bigint not null default 0 check ("subjectCount" >= 0),
    "templateCount" bigint not null default 0 check ("templateCount" >= 0),
    "removalsDeletedTo" bigint not null default 0
  ) ${freeSpace}`,
  'create index galleries_of_account on galleries ("accountId")',
  ...secure(ofAccount, 'galleries'),

  // Removals are deleted while servers run. The gallery stores up to which change that happened, so
  // that a server that missed them reloads the gallery.
  `create table removals (
    "galleryId" ${text} not null, sequence bigint not null, "faceId" ${text} not null,
    primary key ("galleryId", sequence, "faceId")
  )`,
  `create function "recordDeletedRemovals"() returns trigger language plpgsql as $$ begin
    update galleries g set "removalsDeletedTo" = greatest(g."removalsDeletedTo", d.sequence)
      from (select "galleryId", max(sequence) as sequence from deleted group by 1) as d
      where g."galleryId" = d."galleryId";
    return null;
  end $$`,
  `create trigger removals_deletion_is_recorded after delete on removals
    referencing old table as deleted for each statement
    execute function "recordDeletedRemovals"()`,
  `create table "galleryKeys" (
    "keyId" ${text} primary key, "galleryId" ${text} not null references galleries,
    "masterKeyId" ${text} not null, wrapped bytea not null, "createdAtMs" bigint not null
  )`,
  'create index keys_of_gallery on "galleryKeys" ("galleryId", "createdAtMs")',
  `create table "galleryCalibrations" (
    "calibrationId" ${text} primary key,
    "galleryId" ${text} not null references galleries on delete cascade,
    "modelId" ${text} not null, subjects bigint not null check (subjects > 0),
    pairs bigint not null check (pairs > 0), definition ${text} not null,
    "appliedAtUtc" ${text} not null, "appliedBy" ${text} not null,
    "endedAtUtc" ${text}, "endedBy" ${text},
    check (("endedAtUtc" is null) = ("endedBy" is null))
  )`,
  'create index calibrations_of_gallery on "galleryCalibrations" ("galleryId", "appliedAtUtc")',
  `create unique index calibration_in_use on "galleryCalibrations" ("galleryId", "modelId")
    where "endedAtUtc" is null`,
  `create table subjects (
    "subjectId" ${text} primary key, "galleryId" ${text} not null references galleries,
    "projectId" ${text} not null references projects,
    "externalId" ${text}, "displayName" ${text}, attributes ${text} not null,
    "keyId" ${text} not null references "galleryKeys", "wrappedKey" bytea not null,
    "createdAtUtc" ${text} not null, "updatedAtUtc" ${text} not null,
    "expiresAtUtc" ${text}, "lastSeenAtUtc" ${text} not null,
    "searchText" ${text} not null default '', ${flag('withoutFaces', 0)},
    ${flag('needsNewKey', 0)}
  )`,
  `create unique index one_subject_per_external_id
    on subjects ("galleryId", "externalId") where "externalId" is not null`,
  'create index subjects_by_creation on subjects ("galleryId", "createdAtUtc", "subjectId")',
  'create index subjects_by_update on subjects ("galleryId", "updatedAtUtc", "subjectId")',
  'create index subjects_by_key on subjects ("keyId")',
  'create index subjects_needing_key on subjects ("galleryId") where "needsNewKey" = 1',
  'create index subjects_expiring on subjects ("expiresAtUtc") where "expiresAtUtc" is not null',
  'create index subjects_unseen on subjects ("projectId", "lastSeenAtUtc")',
  `create table "subjectGroups" (
    "galleryId" ${text} not null, name ${text} not null,
    "subjectId" ${text} not null references subjects on delete cascade,
    primary key ("galleryId", name, "subjectId")
  )`,
  'create index groups_of_subject on "subjectGroups" ("subjectId")',
  `create table "subjectAttributes" (
    "galleryId" ${text} not null, name ${text} not null, value ${text} not null,
    "subjectId" ${text} not null references subjects on delete cascade,
    primary key ("galleryId", name, value, "subjectId")
  )`,
  'create index attributes_of_subject on "subjectAttributes" ("subjectId")',
  `create function "fillAttributes"() returns trigger language plpgsql as $$ begin
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
  end $$`,
  `create trigger subjects_add_attributes after insert on subjects for each row
    when (new.attributes <> '{}') execute function "fillAttributes"()`,
  `create trigger subjects_change_attributes after update of attributes on subjects for each row
    when (new.attributes <> old.attributes) execute function "fillAttributes"()`,
  ...secure(ofGallery, 'removals', 'galleryKeys', 'galleryCalibrations'),
  ...secure(ofGallery, 'subjects', 'subjectGroups', 'subjectAttributes'),
  `create table faces (
    "faceId" ${text} primary key,
    "subjectId" ${text} not null references subjects on delete cascade,
    "galleryId" ${text} not null, sequence bigint not null,
    "qualityScore" integer not null, "createdAtUtc" ${text} not null,
    unique ("galleryId", "faceId")
  )`,
  'create index faces_of_subject on faces ("subjectId")',
  'create index faces_by_change on faces ("galleryId", sequence, "faceId")',

  // They contain the gallery of their face, so that a query by face reads one partition.
  `create table templates (
    "faceId" ${text} not null,
    "modelId" ${text} not null, ciphertext bytea not null, "galleryId" ${text} not null,
    primary key ("galleryId", "faceId", "modelId"),
    foreign key ("galleryId", "faceId") references faces ("galleryId", "faceId") on delete cascade
  ) partition by hash ("galleryId")`,
  ...Array.from(
    { length: 16 },
    (_, part) => `create table templates_${part} partition of templates
      for values with (modulus 16, remainder ${part})`,
  ),
  'create index templates_of_model on templates ("modelId", "faceId")',
  `create table crops (
    "faceId" ${text} primary key references faces on delete cascade,
    "projectId" ${text} not null references projects, ciphertext bytea not null
  )`,
  'create index crops_of_project on crops ("projectId")',
  ...secure(ofProject, 'crops'),

  // Triggers delete a page with its key in the transaction that changes or deletes one of its faces,
  // their templates, or the key or the expiry of their subjects.
  `create table "galleryPages" (
    "galleryId" ${text} not null, "toSequence" bigint not null,
    "afterSequence" bigint not null check ("afterSequence" < "toSequence"),
    faces integer not null check (faces > 0), "modelIds" ${text} not null,
    "keyId" ${text} not null references "galleryKeys" on delete cascade,
    "wrappedKey" bytea not null, ciphertext bytea not null,
    primary key ("galleryId", "toSequence")
  )`,
  'create index pages_by_key on "galleryPages" ("keyId")',
  // Ciphertext cannot be compressed.
  'alter table "galleryPages" alter column ciphertext set storage external',
  ...secure(ofGallery, 'faces', 'templates', 'galleryPages'),

  // Deletes the page that contains the faces of a change. The pages of a gallery never overlap: the
  // first one that ends at or after the change contains it.
  //
  // The lock conflicts with that of a transaction that adds a page. Either that transaction ends first,
  // and its page is deleted here; or it waits for this transaction, and then finds that a face is
  // missing. It does not conflict with other changes of the gallery.
  `create function "deletePage"("changedGalleryId" text, "changedSequence" bigint) returns void
  language plpgsql as $$ begin
    perform from galleries g where g."galleryId" = "changedGalleryId" for key share;
    delete from "galleryPages" p
      where p."galleryId" = "changedGalleryId" and p."afterSequence" < "changedSequence"
        and p."toSequence" = (select min(q."toSequence") from "galleryPages" q
          where q."galleryId" = "changedGalleryId" and q."toSequence" >= "changedSequence");
  end $$`,
  ...indexPlans('"deletePage"(text, bigint)'),
  `create function "deletePageOfFace"() returns trigger language plpgsql as $$ begin
    perform "deletePage"(old."galleryId", old.sequence);
    return null;
  end $$`,
  `create trigger faces_change_deletes_page after update or delete on faces
    for each row execute function "deletePageOfFace"()`,
  `create function "deletePageOfTemplate"() returns trigger language plpgsql as $$ begin
    perform "deletePage"(f."galleryId", f.sequence) from faces f where f."faceId" = old."faceId";
    return null;
  end $$`,
  `create trigger templates_change_deletes_page after update or delete on templates
    for each row execute function "deletePageOfTemplate"()`,
  `create function "deletePagesOfSubject"() returns trigger language plpgsql as $$ begin
    perform "deletePage"(f."galleryId", f.sequence) from faces f
      where f."subjectId" = old."subjectId";
    return null;
  end $$`,
  `create trigger subjects_change_deletes_pages after update on subjects for each row
    when (new."wrappedKey" <> old."wrappedKey"
      or new."expiresAtUtc" is distinct from old."expiresAtUtc")
    execute function "deletePagesOfSubject"()`,
]
