import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Lists of subjects by their last change, and by the value of an attribute. Triggers keep one row per
 * top-level attribute whose value is a text, a boolean or a whole number.
 */
export const subjectLists: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const insertAttributes = (subject: string, from: string): string =>
  `insert or ignore into subjectAttributes (galleryId, name, value, subjectId)
    select ${subject}.galleryId, key,
      case type when 'true' then 'true' when 'false' then 'false' else cast(value as text) end,
      ${subject}.subjectId
    from ${from}
    where length(key) <= 128 and (type in ('true', 'false') or type = 'text' and length(value) <= 256
      or type = 'integer' and abs(value) < 1000000000000000)`

const statements = [
  'create index subjects_by_update on subjects (galleryId, updatedAtUtc, subjectId)',
  `create table subjectAttributes (
    galleryId text not null,
    name text not null,
    value text not null,
    subjectId text not null references subjects (subjectId) on delete cascade,
    primary key (galleryId, name, value, subjectId)
  ) strict, without rowid`,
  'create index attributes_of_subject on subjectAttributes (subjectId)',
  `create trigger subjects_add_attributes after insert on subjects when new.attributes <> '{}' begin
    ${insertAttributes('new', 'json_each(new.attributes)')};
  end`,
  `create trigger subjects_change_attributes after update of attributes on subjects
    when new.attributes <> old.attributes begin
    delete from subjectAttributes where subjectId = new.subjectId;
    ${insertAttributes('new', 'json_each(new.attributes)')};
  end`,
  insertAttributes('subjects', 'subjects, json_each(subjects.attributes)'),
]
