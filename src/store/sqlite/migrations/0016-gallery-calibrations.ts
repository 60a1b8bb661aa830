import { sql, type Kysely, type Migration } from 'kysely'

/** Calibration tables that were measured on a gallery. A gallery uses one per model; others are history. */
export const galleryCalibrations: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table galleryCalibrations (
    calibrationId text primary key,
    galleryId text not null references galleries (galleryId) on delete cascade,
    modelId text not null,
    subjects integer not null check (subjects > 0),
    pairs integer not null check (pairs > 0),
    definition text not null,
    appliedAtUtc text not null,
    appliedBy text not null,
    endedAtUtc text,
    endedBy text,
    check ((endedAtUtc is null) = (endedBy is null))
  ) strict, without rowid`,
  'create index calibrations_of_gallery on galleryCalibrations (galleryId, appliedAtUtc)',
  `create unique index calibration_in_use on galleryCalibrations (galleryId, modelId)
    where endedAtUtc is null`,
]
