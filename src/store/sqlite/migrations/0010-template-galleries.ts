import { sql, type Kysely, type Migration } from 'kysely'

/** Templates name their gallery: PostgreSQL keeps them apart by it, and both engines ask the same. */
export const templateGalleries: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table templates add column galleryId text not null default ''`).execute(db)
  const own = 'select galleryId from faces where faces.faceId = templates.faceId'
  await sql.raw(`update templates set galleryId = (${own})`).execute(db)
}
