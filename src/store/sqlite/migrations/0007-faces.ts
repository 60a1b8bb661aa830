import { sql, type Kysely, type Migration } from 'kysely'

/**
 * A face may have templates of several models, so that the model can be changed without new
 * enrollments. Faces are counted, limited, numbered and deleted. Foreign keys delete a face's
 * templates and crop together with its row.
 */
export const faces: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...split, ...crops, ...switches]) await sql.raw(statement).execute(db)
}

/** Splits each row with one template into a face and its first template. */
const split = [
  `create table faces (
    faceId text primary key,
    subjectId text not null references subjects (subjectId) on delete cascade,
    galleryId text not null,
    sequence integer not null,
    qualityScore integer not null,
    createdAtUtc text not null
  ) strict`,
  `insert into faces
    select faceId, subjectId, galleryId, sequence, qualityScore, createdAtUtc from templates`,
  `create table templatesByModel (
    faceId text not null references faces (faceId) on delete cascade,
    modelId text not null,
    sealed blob not null,
    primary key (faceId, modelId)
  ) strict`,
  'insert into templatesByModel select faceId, modelId, sealed from templates',
  'drop table templates',
  'alter table templatesByModel rename to templates',
  'create index faces_of_subject on faces (subjectId)',
  'create index faces_by_change on faces (galleryId, sequence, faceId)',
  'create index templates_of_model on templates (modelId, faceId)',
]

/** A crop has the project that stored it. It is deleted when that project stops storing crops. */
const crops = [
  `create table crops (
    faceId text primary key references faces (faceId) on delete cascade,
    projectId text not null references projects (projectId),
    sealed blob not null
  ) strict`,
  'create index crops_of_project on crops (projectId)',
]

const switches = ['storeCrops', 'adopt'].map(
  (name) =>
    `alter table projects add column ${name} integer not null default 0 check (${name} in (0, 1))`,
)
