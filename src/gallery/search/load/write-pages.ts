import type { Log } from '../../../lib/log.ts'
import type { Store } from '../../../store/database.ts'
import type { GalleryPageRow } from '../../../store/gallery-schema.ts'
import { deletePage, storePage } from '../../../store/gallery/search/gallery-pages.ts'
import type { PageFault, RangeContent } from './read-range.ts'

/**
 * Returns a writer for the pages of one load. Without a page its faces are loaded one by one, so the
 * first failure ends the writing, and the next load continues it.
 */
export function createPageWriter(
  { write }: Pick<Store, 'write'>,
  log: Pick<Log, 'warn' | 'error'>,
) {
  let stored = 0
  let hasFailed = false
  const replaceDamaged = async ({ error, ...page }: PageFault): Promise<void> => {
    const alert = { alert: 'gallery-page-tampered', ...page }
    log.error(
      { ...alert, err: error },
      'a page of templates cannot be used; it is deleted, and its faces are loaded one by one',
    )
    await write((tx) => deletePage(tx, page))
  }
  const store = async (page: GalleryPageRow): Promise<void> => {
    if (await write((tx) => storePage(tx, page))) stored += 1
  }
  return {
    /** Deletes damaged pages and stores new ones, each in a separate transaction. Never rejects. */
    write: async ({
      newPages,
      damagedPages,
    }: Pick<RangeContent, 'newPages' | 'damagedPages'>): Promise<void> => {
      try {
        for (const page of damagedPages) await replaceDamaged(page)
        if (hasFailed) return
        for (const page of newPages) await store(page)
      } catch (error) {
        hasFailed = true
        log.warn({ err: error }, 'pages of templates are not written; the next load tries it again')
      }
    },
    /** Returns the number of pages that were stored. */
    stored: (): number => stored,
  }
}
