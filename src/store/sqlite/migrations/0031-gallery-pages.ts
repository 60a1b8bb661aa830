import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Encrypted copies of the templates of many successive faces, from which a large gallery is loaded.
 * A trigger deletes a page with its key in the transaction that changes or deletes one of its faces,
 * their templates, or the key or the expiry of their subjects.
 */
export const galleryPages: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** The pages of a gallery never overlap: the first one that ends at or after a change contains it. */
const containsChange = (page: string, face: string): string => `
  ${page}.galleryId = ${face}.galleryId and ${page}.afterSequence < ${face}.sequence
  and ${page}.toSequence = (select min(next.toSequence) from galleryPages as next
    where next.galleryId = ${face}.galleryId and next.toSequence >= ${face}.sequence)`

const deletePagesOf = (condition: string): string => `
  delete from galleryPages where rowid in (select page.rowid
    from faces as face cross join galleryPages as page
    where ${condition} and ${containsChange('page', 'face')})`

const statements = [
  `create table galleryPages (
    galleryId text not null,
    toSequence integer not null,
    afterSequence integer not null check (afterSequence < toSequence),
    faces integer not null check (faces > 0),
    modelIds text not null,
    keyId text not null references galleryKeys (keyId) on delete cascade,
    wrappedKey blob not null,
    sealed blob not null,
    primary key (galleryId, toSequence)
  ) strict`,
  'create index pages_by_key on galleryPages (keyId)',
  `create trigger faces_deletion_deletes_page after delete on faces begin
    delete from galleryPages where ${containsChange('galleryPages', 'old')};
  end`,
  `create trigger faces_change_deletes_page after update on faces begin
    delete from galleryPages where ${containsChange('galleryPages', 'old')};
  end`,
  `create trigger templates_deletion_deletes_page after delete on templates begin
    ${deletePagesOf('face.faceId = old.faceId')};
  end`,
  `create trigger templates_change_deletes_page after update on templates begin
    ${deletePagesOf('face.faceId = old.faceId')};
  end`,
  `create trigger subjects_change_deletes_pages after update on subjects
    when new.wrappedKey <> old.wrappedKey or new.expiresAtUtc is not old.expiresAtUtc begin
    ${deletePagesOf('face.subjectId = old.subjectId')};
  end`,
]
