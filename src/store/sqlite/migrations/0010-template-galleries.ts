import { sql, type Kysely, type Migration } from 'kysely'

/** Adds the gallery to templates: PostgreSQL partitions by it, and queries are the same for both. */
export const templateGalleries: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table templates add column galleryId text not null default ''`).execute(db)
  const own = 'select galleryId from faces where faces.faceId = templates.faceId'
  await sql.raw(`update templates set galleryId = (${own})`).execute(db)
}
