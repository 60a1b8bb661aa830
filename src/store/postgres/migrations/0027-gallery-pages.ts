import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/**
 * Encrypted copies of the templates of many successive faces, from which a large gallery is loaded.
 * A trigger deletes a page with its key in the transaction that changes or deletes one of its faces,
 * their templates, or the key or the expiry of their subjects.
 */
export const galleryPages: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [...table, ...policies, deletePage, ...plans, ...functions, ...triggers]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const table = [
  `create table "galleryPages" (
    "galleryId" ${text} not null,
    "toSequence" bigint not null,
    "afterSequence" bigint not null check ("afterSequence" < "toSequence"),
    faces integer not null check (faces > 0),
    "modelIds" ${text} not null,
    "keyId" ${text} not null references "galleryKeys" ("keyId") on delete cascade,
    "wrappedKey" bytea not null,
    sealed bytea not null,
    primary key ("galleryId", "toSequence")
  )`,
  'create index pages_by_key on "galleryPages" ("keyId")',
  // Ciphertext cannot be compressed.
  'alter table "galleryPages" alter column sealed set storage external',
]

const policies = [
  'alter table "galleryPages" enable row level security',
  'alter table "galleryPages" force row level security',
  `create policy "galleryPages_of_account" on "galleryPages" using (
    (select current_setting('facegate.account', true)) = '*' or
    "galleryId" = any (array(select "galleryId" from galleries
      where "accountId" = (select current_setting('facegate.account', true)))))`,
]

/**
 * Deletes the page that contains the faces of a change. The pages of a gallery never overlap: the
 * first one that ends at or after the change contains it.
 *
 * The lock conflicts with that of a transaction that adds a page. Either that transaction ends first,
 * and its page is deleted here; or it waits for this transaction, and then finds that a face is
 * missing. It does not conflict with other changes of the gallery.
 */
const deletePage = `
  create function "deletePage"("ofGallery" text, "ofSequence" bigint) returns void
  language plpgsql as $$
  begin
    perform from galleries g where g."galleryId" = "ofGallery" for key share;
    delete from "galleryPages" p
      where p."galleryId" = "ofGallery" and p."afterSequence" < "ofSequence"
        and p."toSequence" = (select min(q."toSequence") from "galleryPages" q
          where q."galleryId" = "ofGallery" and q."toSequence" >= "ofSequence");
  end $$`

/** A session plans each statement once, possibly while the table is empty. */
const plans = ['seqscan', 'hashjoin', 'mergejoin'].map(
  (plan) => `alter function "deletePage"(text, bigint) set enable_${plan} = off`,
)

const triggerFunction = (name: string, body: string): string =>
  `create function "${name}"() returns trigger language plpgsql as $$ begin
    ${body}
    return null;
  end $$`

const functions = [
  triggerFunction('deletePageOfFace', 'perform "deletePage"(old."galleryId", old.sequence);'),
  triggerFunction(
    'deletePageOfTemplate',
    `perform "deletePage"(f."galleryId", f.sequence) from faces f where f."faceId" = old."faceId";`,
  ),
  triggerFunction(
    'deletePagesOfSubject',
    `perform "deletePage"(f."galleryId", f.sequence) from faces f
      where f."subjectId" = old."subjectId";`,
  ),
]

const triggers = [
  `create trigger faces_change_deletes_page after update or delete on faces
    for each row execute function "deletePageOfFace"()`,
  `create trigger templates_change_deletes_page after update or delete on templates
    for each row execute function "deletePageOfTemplate"()`,
  `create trigger subjects_change_deletes_pages after update on subjects for each row
    when (new."wrappedKey" <> old."wrappedKey"
      or new."expiresAtUtc" is distinct from old."expiresAtUtc")
    execute function "deletePagesOfSubject"()`,
]
