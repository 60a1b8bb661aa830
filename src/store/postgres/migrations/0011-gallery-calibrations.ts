import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/** Calibration tables that were measured on a gallery. A gallery uses one per model; others are history. */
export const galleryCalibrations: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table "galleryCalibrations" (
    "calibrationId" ${text} primary key,
    "galleryId" ${text} not null references galleries ("galleryId") on delete cascade,
    "modelId" ${text} not null,
    subjects bigint not null check (subjects > 0),
    pairs bigint not null check (pairs > 0),
    definition ${text} not null,
    "appliedAtUtc" ${text} not null,
    "appliedBy" ${text} not null,
    "endedAtUtc" ${text},
    "endedBy" ${text},
    check (("endedAtUtc" is null) = ("endedBy" is null))
  )`,
  'create index calibrations_of_gallery on "galleryCalibrations" ("galleryId", "appliedAtUtc")',
  `create unique index calibration_in_use on "galleryCalibrations" ("galleryId", "modelId")
    where "endedAtUtc" is null`,
  'alter table "galleryCalibrations" enable row level security',
  'alter table "galleryCalibrations" force row level security',
  `create policy "galleryCalibrations_of_account" on "galleryCalibrations" using (
    (select current_setting('facegate.account', true)) = '*' or
    "galleryId" = any (array(select "galleryId" from galleries
      where "accountId" = (select current_setting('facegate.account', true)))))`,
]
