-- Galleries, their keys and calibrations, their subjects with groups and attributes, and the faces of
-- subjects with templates and crops. Foreign keys delete everything of a subject together with its row.

create table galleries (
  galleryId text primary key, accountId text not null references accounts,
  sequence integer not null default 0,
  subjectCount integer not null default 0 check (subjectCount >= 0),
  templateCount integer not null default 0 check (templateCount >= 0),
  removalsDeletedTo integer not null default 0
) strict, without rowid

-- The gallery stores up to which change its removals were deleted.
create table removals (
  galleryId text not null, sequence integer not null, subjectId text not null,
  primary key (galleryId, sequence, subjectId)
) strict, without rowid

create trigger removals_deletion_is_recorded after delete on removals begin
  update galleries set removalsDeletedTo = max(removalsDeletedTo, old.sequence)
    where galleryId = old.galleryId;
end

create table galleryKeys (
  keyId text primary key, galleryId text not null references galleries,
  masterKeyId text not null, wrapped blob not null, createdAtMs integer not null
) strict, without rowid

create index keys_of_gallery on galleryKeys (galleryId, createdAtMs)

-- The master key of the latest rotation, or of the first start before it, which every key file has to
-- contain. There is no row before the first start, and never more than one.
create table masterKeys (masterKeyId text primary key) strict, without rowid

-- The Ed25519 key with which an account signs certificates of its deletions.
create table certificateKeys (
  accountId text primary key references accounts, publicKey text not null,
  masterKeyId text not null, wrapped blob not null
) strict, without rowid

create table galleryCalibrations (
  calibrationId text primary key,
  galleryId text not null references galleries on delete cascade,
  modelId text not null, subjects integer not null check (subjects > 0),
  pairs integer not null check (pairs > 0), definition text not null,
  appliedAtUtc text not null, appliedBy text not null, endedAtUtc text, endedBy text,
  check ((endedAtUtc is null) = (endedBy is null))
) strict, without rowid

create index calibrations_of_gallery on galleryCalibrations (galleryId, appliedAtUtc)

create unique index calibration_in_use on galleryCalibrations (galleryId, modelId)
  where endedAtUtc is null

create table subjects (
  subjectId text primary key, galleryId text not null references galleries,
  projectId text not null references projects,
  externalId text, displayName text, attributes text not null,
  keyId text not null references galleryKeys, wrappedKey blob not null,
  createdAtUtc text not null, updatedAtUtc text not null,
  expiresAtUtc text, lastSeenAtUtc text not null, searchText text not null default '',
  withoutFaces integer not null default 0 check (withoutFaces in (0, 1)), needsNewKey integer not null default 0 check (needsNewKey in (0, 1)),
  hasDenials integer not null default 0 check (hasDenials in (0, 1)),
  formerIds text not null default '[]',
  visitCount integer check (visitCount > 0), isIgnored integer not null default 0 check (isIgnored in (0, 1))
) strict

create unique index one_subject_per_external_id
  on subjects (galleryId, externalId) where externalId is not null

create index subjects_by_creation on subjects (galleryId, createdAtUtc, subjectId)

create index subjects_by_update on subjects (galleryId, updatedAtUtc, subjectId)

create index subjects_by_last_seen on subjects (galleryId, lastSeenAtUtc, subjectId)

create index subjects_by_name on subjects (galleryId, searchText, subjectId)

-- Contains the text, so that a search reads no other data of the subjects.
create index subjects_by_text on subjects (galleryId, createdAtUtc, subjectId, searchText)

create index subjects_by_key on subjects (keyId)

create index subjects_needing_key on subjects (galleryId) where needsNewKey = 1

create index subjects_with_denials on subjects (galleryId) where hasDenials = 1

-- The expired subjects that a search leaves out, and those that the sweep deletes.
create index subjects_expiring on subjects (galleryId, expiresAtUtc)
  where expiresAtUtc is not null

create index subjects_expired on subjects (projectId, expiresAtUtc)
  where expiresAtUtc is not null

create index subjects_unseen on subjects (projectId, lastSeenAtUtc) where visitCount is null

create index visitors_by_count on subjects (galleryId, visitCount, subjectId)
  where visitCount is not null

-- The lists of visitors with and without the ignored ones.
create index ignored_visitors_by_count on subjects (galleryId, isIgnored, visitCount, subjectId)
  where visitCount is not null

create index ignored_visitors_by_last_seen on subjects (galleryId, isIgnored, lastSeenAtUtc, subjectId)
  where visitCount is not null

-- Contains the count, so that the visitors of a project are counted without their other data.
create index visitors_unseen on subjects (projectId, lastSeenAtUtc, visitCount)
  where visitCount is not null

create table subjectGroups (
  galleryId text not null, name text not null,
  subjectId text not null references subjects on delete cascade,
  primary key (galleryId, name, subjectId)
) strict, without rowid

create index groups_of_subject on subjectGroups (subjectId)

create table subjectAttributes (
  galleryId text not null, name text not null, value text not null,
  subjectId text not null references subjects on delete cascade,
  primary key (galleryId, name, value, subjectId)
) strict, without rowid

create index attributes_of_subject on subjectAttributes (subjectId)

-- The top-level attributes of a subject whose value is a text, a boolean or a whole number.
create view searchableAttributes as
  select subjects.galleryId, attribute.key as name,
    case attribute.type when 'true' then 'true' when 'false' then 'false'
      else cast(attribute.value as text) end as value,
    subjects.subjectId
  from subjects, json_each(subjects.attributes) as attribute
  where length(attribute.key) <= 128
    and (attribute.type in ('true', 'false') or attribute.type = 'text' and length(attribute.value) <= 256
      or attribute.type = 'integer' and abs(attribute.value) < 1000000000000000)

create trigger subjects_add_attributes after insert on subjects when new.attributes <> '{}' begin
  insert or ignore into subjectAttributes
    select galleryId, name, value, subjectId from searchableAttributes
    where subjectId = new.subjectId;
end

create trigger subjects_change_attributes after update of attributes on subjects
  when new.attributes <> old.attributes begin
  delete from subjectAttributes where subjectId = new.subjectId;
  insert or ignore into subjectAttributes
    select galleryId, name, value, subjectId from searchableAttributes
    where subjectId = new.subjectId;
end

-- Two subjects that are no duplicates, each pair once: the smaller id is the first one.
create table distinctSubjects (
  galleryId text not null,
  subjectId text not null references subjects on delete cascade,
  otherId text not null references subjects on delete cascade,
  decidedAtUtc text not null, decidedBy text not null,
  primary key (galleryId, subjectId, otherId), check (subjectId < otherId)
) strict, without rowid

create index distinct_from_subject on distinctSubjects (subjectId)

create index distinct_from_other on distinctSubjects (otherId)

-- What a merge can be undone with, encrypted with the key of the subject that remains, except for the
-- groups, which can be renamed.
create table subjectMerges (
  mergeId text primary key, galleryId text not null,
  subjectId text not null references subjects on delete cascade,
  mergedAtMs integer not null, expiresAtMs integer not null, memberships text not null,
  ciphertext blob not null
) strict, without rowid

create index merges_of_subject on subjectMerges (subjectId)

create index merges_of_gallery on subjectMerges (galleryId, mergedAtMs)

create index merges_by_expiry on subjectMerges (expiresAtMs)

-- The subjects that faces matched, by the ids that they had then. A merge and its undo change the subject
-- of few rows here instead of all its matches.
create table matchedSubjects (
  matchedId text primary key, galleryId text not null,
  subjectId text not null references subjects on delete cascade
) strict, without rowid

create index matched_ids_of_subject on matchedSubjects (subjectId)

-- The matches of svc.identify that can be confirmed or denied, and those that were. The ciphertext is the
-- template of the searched face, encrypted with the key of the subject. A confirmation deletes it.
create table matchVerdicts (
  verdictId text primary key, galleryId text not null,
  projectId text not null references projects,
  matchedId text not null references matchedSubjects on delete cascade,
  requestId text not null, resultIndex integer not null, faceIndex integer not null,
  modelId text not null, ciphertext blob, matchedAtMs integer not null, expiresAtMs integer,
  verdict text check (verdict in ('confirmed', 'denied')),
  check ((verdict is null) = (expiresAtMs is not null))
) strict

create index verdicts_of_request on matchVerdicts (projectId, requestId)

create index verdicts_of_subject on matchVerdicts (matchedId, expiresAtMs)

create index denials_of_subject on matchVerdicts (matchedId, matchedAtMs)
  where verdict = 'denied' and ciphertext is not null

create index decided_matches on matchVerdicts (projectId, matchedAtMs) where verdict is not null

create index undecided_matches on matchVerdicts (expiresAtMs) where expiresAtMs is not null

create index undecided_of_subject on matchVerdicts (matchedId, matchedAtMs) where expiresAtMs > 0

-- The faces of calls whose similarity was a near miss, encrypted with the key of the subject that they
-- nearly matched, for projects that keep them.
create table nearMissCrops (
  cropId text primary key, projectId text not null references projects,
  subjectId text not null references subjects on delete cascade,
  requestId text not null, storedAtMs integer not null, expiresAtMs integer not null,
  ciphertext blob not null
) strict

create index near_misses_of_request on nearMissCrops (projectId, requestId)

create index near_misses_of_project on nearMissCrops (projectId, storedAtMs) where expiresAtMs > 0

create index near_misses_of_subject on nearMissCrops (subjectId)

create index near_misses_by_expiry on nearMissCrops (expiresAtMs)

-- How many calls of a project have matched a subject on a day in UTC, for projects that count matches.
create table matchDays (
  subjectId text not null references subjects on delete cascade,
  projectId text not null references projects,
  day text not null, matches integer not null check (matches >= 0),
  primary key (subjectId, projectId, day)
) strict, without rowid

create index match_days_of_project on matchDays (projectId, day)

create table faces (
  faceId text primary key, subjectId text not null references subjects on delete cascade,
  galleryId text not null, sequence integer not null,
  qualityScore integer not null, createdAtUtc text not null
) strict

create index faces_of_subject on faces (subjectId)

-- All faces of a subject have the number of its last change.
create index faces_by_change on faces (galleryId, sequence, subjectId, faceId)

-- A face may have templates of several models. They contain the gallery as on PostgreSQL.
create table templates (
  faceId text not null references faces on delete cascade,
  modelId text not null, ciphertext blob not null, galleryId text not null,
  primary key (faceId, modelId)
) strict

create index templates_of_model on templates (modelId, faceId)

create table crops (
  faceId text primary key references faces on delete cascade,
  projectId text not null references projects, ciphertext blob not null
) strict

create index crops_of_project on crops (projectId)

-- Triggers delete a page with its key in the transaction that changes or deletes one of its faces,
-- their templates, or the key or the expiry of their subjects.
create table galleryPages (
  galleryId text not null, toSequence integer not null,
  afterSequence integer not null check (afterSequence < toSequence),
  faces integer not null check (faces > 0), modelIds text not null,
  keyId text not null references galleryKeys on delete cascade,
  wrappedKey blob not null, ciphertext blob not null,
  primary key (galleryId, toSequence)
) strict

create index pages_by_key on galleryPages (keyId)

-- The pages of a gallery never overlap: the first one that ends at or after a change contains it.
create view pagesOfFaces as
  select page.rowid as pageId, face.faceId, face.subjectId
  from faces as face cross join galleryPages as page
  where page.galleryId = face.galleryId and page.afterSequence < face.sequence
    and page.toSequence = (select min(next.toSequence) from galleryPages as next
      where next.galleryId = face.galleryId and next.toSequence >= face.sequence)

create trigger faces_deletion_deletes_page before delete on faces begin
  delete from galleryPages where rowid in
    (select pageId from pagesOfFaces where faceId = old.faceId);
end

create trigger faces_change_deletes_page before update on faces begin
  delete from galleryPages where rowid in
    (select pageId from pagesOfFaces where faceId = old.faceId);
end

create trigger templates_deletion_deletes_page after delete on templates begin
  delete from galleryPages where rowid in
    (select pageId from pagesOfFaces where faceId = old.faceId);
end

create trigger templates_change_deletes_page after update on templates begin
  delete from galleryPages where rowid in
    (select pageId from pagesOfFaces where faceId = old.faceId);
end

create trigger subjects_change_deletes_pages after update on subjects
  when new.wrappedKey <> old.wrappedKey or new.expiresAtUtc is not old.expiresAtUtc begin
  delete from galleryPages where rowid in
    (select pageId from pagesOfFaces where subjectId = old.subjectId);
end
